// 10.5 The bytes that come and go within a step: activations (Korthikanti et al. 2022, section 4).
#pragma once

#include "lessons/10_counting/job.hpp"

namespace counting {

/// What a block keeps of a micro-batch from its forward to its backward pass. R = b T rows, e bytes an
/// element, T_p tensor-parallel ranks; outside the cut layers a rank has all R rows, or with sequence
/// parallelism ceil(R / T_p) of them:
///   outside   4 e h a row: the inputs of both layer norms and of both column-parallel layers; and 4 numbers
///             a row in fp32 (fp64 for fp64), the means and deviations of the layer norms
///   inside    12 e h / T_p for each of the R rows: Q, K and V, the heads' results, and the MLP's 4 h before
///             and behind GELU; and the attention's probabilities, e b a T² / T_p, unless they are recomputed
/// With full recomputation only the block's input is kept: e h for each row outside.
std::int64_t saved_by_block(const Job& job);

/// What a chunk of the model that is on this device keeps of a micro-batch: its blocks' bytes. The last also
/// has the head's: for each row outside 2 e h, the inputs of the last layer norm and of the product, and its
/// 2 numbers; for each of the R rows e V_r, the logits of this rank's entries of the vocabulary, and one
/// number, the logarithm of softmax's denominator. The embedding keeps nothing. With full recomputation on
/// one stage the blocks keep their inputs and the head what it has; with several a chunk keeps its input, e h
/// for each row outside, or nothing where the model begins.
std::int64_t saved_by_chunk(const Job& job, const Place& place, int chunk);

/// The most (micro-batch, chunk) pairs that have gone forward on a stage s of P and not yet backward:
///   one stage, naive   1
///   gpipe              M
///   1f1b               min(M, P − s)
///   interleaved        min(V M, 2 (P − s − 1) + (V − 1) P + 1), V chunks a stage
int passes_in_flight(const Job& job, int stage);

/// The sum over the pairs in flight, which are the first that go forward (the k-th is of chunk
/// (k mod P V) / P), of what they keep. With full recomputation also what the block at work, or with several
/// stages the largest chunk at work, keeps when it has gone forward again, beside its input, which is counted
/// already where it is kept.
///
/// What passes allocate and free while they go on is not in it: a device's peak lies above.
std::int64_t saved_activations(const Job& job, const Place& place);

/// The same of a block of Megatron in 16 bits, in bytes: sbh times
///   10 + 24 / t + 5 a s / (h t)     with sequence parallelism  34 / t + 5 a s / (h t)
/// without the last term when the attention is recomputed; 2 (over t with sequence parallelism) with full
/// recomputation. It keeps 1-byte masks of its three dropouts, the attention's result of softmax before and
/// after dropout, and no layer norm's numbers: ours in 16 bits is by 2 sbh (masks) and 3 a s / (h t) sbh
/// (mask and second copy of the probabilities) smaller, and by 16 b s bytes larger; with sequence parallelism
/// 2 / t sbh and 16 b s / t.
double megatron_saved_by_block(const Job& job);

/// Megatron's bytes on the first stage: passes_in_flight times the L / (P V) blocks of a chunk. Embedding and
/// head are left out, as in the paper.
double megatron_activations(const Job& job);

}  // namespace counting
