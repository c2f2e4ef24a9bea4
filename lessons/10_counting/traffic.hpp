// 10.4 What a device sends in a training step, by dimension of the grid.
#pragma once

#include <vector>

#include "lessons/10_counting/job.hpp"

namespace counting {

/// Elements that rank `rank` of p sends in lesson 03's ring collectives over n elements in chunks as even as
/// they go: in a reduce-scatter all chunks but the one it ends with, in an all-gather all but the one that it
/// receives last; (p − 1)/p n when p divides n. An all-reduce is both.
std::int64_t reduce_scatter_elements(std::int64_t n, int p, int rank);
std::int64_t all_gather_elements(std::int64_t n, int p, int rank);
std::int64_t all_reduce_elements(std::int64_t n, int p, int rank);

/// Bytes, of the tensors only: the few numbers that a group agrees on (losses, norms) are no part of it.
struct SentBytes {
    std::int64_t data = 0;
    std::int64_t tensor = 0;
    std::int64_t pipeline = 0;

    bool operator==(const SentBytes&) const = default;
};

/// Data parallelism: of each bucket a reduce-scatter of gradients once a step. ZeRO 0 to 2: and an
/// all-gather, of the sums (0) or of the new values (1, 2). ZeRO 3: an all-gather whenever it is fetched.
/// Padded buckets divide evenly.
std::int64_t data_parallel_bytes(const Job& job, const Place& place);

/// ZeRO 3: how often each bucket of bucket_elements is fetched in a step. Without a pipeline, for every
/// micro-batch: a block's twice, forward and backward; the embedding's twice forward, for the lookup and for
/// the head, whose backward pass finds it there, and not for its own backward pass, which reads no values;
/// the head's once. With a pipeline the order of passes decides what is still there, so the schedule is gone
/// through without running it: before a pass the buckets that it reads are fetched unless they are there, and
/// those of the module behind it, in the direction of the pass; afterwards only those stay (lesson 05.4).
std::vector<std::int64_t> fetches(const Job& job, int stage);

/// Tensor parallelism, R = b T rows of a micro-batch, n = R h:
///   replicated          a block 2 all-reduces of n forward and 2 backward; the embedding 1 forward, the head
///   1
///                       backward
///   sequence-parallel   n is of the padded rows, S = ceil(R / T_p) a rank; a block forward 2 all-gathers and
///                       2 reduce-scatters, backward 4 and 2, as what entered is gathered once more, and an
///                       all-reduce of 2 h for each of its layer norms; the embedding a reduce-scatter
///                       forward and an all-gather backward; the head an all-gather forward, an all-gather
///                       and a reduce-scatter backward, and 2 h of its layer norm
///   both                the head's cross-entropy: R numbers of each rank to all, and the loss
/// What is recomputed in full sends its forward part once more.
std::int64_t tensor_parallel_bytes(const Job& job, const Place& place);

/// Pipeline: the activations of each micro-batch to the next chunk, the gradients back, and the own copy of
/// the token embedding's gradient between the ends.
std::int64_t pipeline_bytes(const Job& job, const Place& place);

}  // namespace counting
