// Memory of a device while a run is trained.
#pragma once

#include "lib/tools/plan/split.hpp"

namespace shardlings::plan {

/// Bytes of a device of tensor-parallel rank 0, which has as much as any.
struct Memory {
    double parameters = 0.0;
    double gradients = 0.0;
    double optimizer_states = 0.0;
    double activations = 0.0;  // of blocks, kept between their forward and backward passes
    double ends = 0.0;         // of the embedding, the last norm and the output layer
    double working = 0.0;      // of the block at work: recomputed activations, fetched parameters, gradients

    double states() const { return parameters + gradients + optimizer_states; }
    double total() const { return states() + activations + ends + working; }
};

/// Parameters of a device of a stage: L / P blocks, cut by T_p but for their norms and row-parallel biases;
/// the first stage's embeddings; the last stage's norm and output layer, with several stages a copy of its
/// own even when it is tied. Of the vocabulary ceil(V / T_p) entries.
double parameters_of_stage(const Model& model, const Split& split, bool first, bool last);

/// What a block keeps of one micro-batch, in bytes, with n = b s h elements an activation, e bytes each:
///   GPT     n (4 e + 2 masks + (12 e) / T_p) + b a s² (2 e + 1 mask) / T_p
///           = s b h (10 + 24 / T_p + 5 a s / (h T_p)) for e = 2 (Korthikanti et al. 2022, equation 2)
/// in general, with the masks only where there is dropout, the probabilities once without dropout:
///   outside the cut layers   inputs of both norms, of QKV and of the MLP; the masks behind both
///   inside                   Q, K, V and the heads' result; the MLP's f-wide activations, 2, or 4 when gated
/// Sequence parallelism divides what is outside by T_p too; selective recomputation drops the term of s²;
/// full keeps e n, the block's input.
double saved_by_block(const Run& run, const Split& split);

/// Blocks' worth of micro-batches that stage `stage` holds at most: of L / P blocks each,
///   gpipe M;  1f1b min(M, P − stage);  interleaved min(M V, 2 (P − stage − 1) + (V − 1) P + 1) / V
double held_micro_batches(const Run& run, const Split& split, std::int64_t stage);

/// On stage `stage`. ZeRO 1 shares the optimizer states out over dp, 2 also the gradients, 3 also the
/// parameters.
Memory memory_of(const Run& run, const Split& split, std::int64_t stage);
/// Of the stage that needs most.
Memory largest_memory(const Run& run, const Split& split);

}  // namespace shardlings::plan
