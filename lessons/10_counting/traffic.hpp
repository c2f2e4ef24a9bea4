// 10.4 What a device sends in a training step, by dimension of the grid.
#pragma once

#include "lessons/10_counting/job.hpp"

namespace counting {

/// Elements that rank `rank` of p >= 1 sends in lesson 03's ring collectives over n elements in chunks as
/// even as they go: in a reduce-scatter all chunks but the one it ends with, in an all-gather all but the one
/// that it receives last; (p − 1)/p n when p divides n. An all-reduce is both.
std::int64_t reduce_scatter_elements(std::int64_t n, int p, int rank);
std::int64_t all_gather_elements(std::int64_t n, int p, int rank);
std::int64_t all_reduce_elements(std::int64_t n, int p, int rank);

/// Bytes that a device sends in a training step, of tensors: the few numbers that a group agrees on (losses
/// of a step, norms) are no part of it. Nothing in a group of one.
///
/// Data parallelism: of each bucket (10.1), padded to a multiple of dp, one reduce-scatter of gradients a
/// step, however many micro-batches. ZeRO 0 to 2: one all-gather as well, of the sums (0) or of the new
/// values (1, 2). ZeRO 3: an all-gather whenever the bucket is fetched (fetches.hpp says how often). All
/// ranks send the same.
std::int64_t data_parallel_bytes(const Job& job, const Place& place);

/// Tensor parallelism. Of each micro-batch, R = b T rows, n = R h elements:
///                         forward                              backward
///   replicated
///     embedding           all-reduce of n                      -
///     block               2 all-reduces of n                   2 all-reduces of n
///     head                the cross-entropy                    all-reduce of n
///   sequence-parallel, n of the padded rows, T_p · ceil(R / T_p)
///     embedding           reduce-scatter                       all-gather
///     block               2 all-gathers, 2 reduce-scatters     4 all-gathers, 2 reduce-scatters,
///                                                              2 all-reduces of 2 h
///     head                all-gather, the cross-entropy        all-gather, reduce-scatter, all-reduce of 2 h
/// Two of a block's four all-gathers backward are of what entered forward, which is not kept; the all-reduces
/// of 2 h are of a layer norm's gradients. The cross-entropy: R numbers of each rank to all by an all-gather
/// of T_p R, in fp32 or, for fp64, fp64; and the loss, 8 bytes by recursive doubling. With full recomputation
/// the blocks' forward part is sent once more, with several stages that of the embedding and the head too.
std::int64_t tensor_parallel_bytes(const Job& job, const Place& place);

/// Pipeline: of each micro-batch the activations, ceil(R / T_p) rows of h with sequence parallelism and else
/// R, to the next chunk, and as much back to the chunk before it as gradients; once a step the first and the
/// last stage send each other their gradient of the token embedding, of this rank's entries.
std::int64_t pipeline_bytes(const Job& job, const Place& place);

}  // namespace counting
