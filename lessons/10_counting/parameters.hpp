// 10.1 How many parameters a model has, and how many of them a device.
#pragma once

#include <vector>

#include "lessons/10_counting/job.hpp"

namespace counting {

/// The matrices, as one counts on a napkin: biases and layer norms are left out.
struct RoughParameters {
    double attention;   // 4 h² L
    double mlp;         // 8 h² L
    double vocabulary;  // V h
    double positions;   // T h

    double total() const { return attention + mlp + vocabulary + positions; }
};
RoughParameters rough_parameters(const ModelShape& shape);

/// Blocks of a stage, in all its chunks.
std::int64_t blocks_of_stage(const Job& job, int stage);
/// Entries of the vocabulary on a rank of the tensor-parallel group: chunk_of(V, T_p, rank) of them.
std::int64_t vocabulary_of_rank(const Job& job, int tensor_rank);

/// Elements of each bucket of a device, in the model's order, when every module has its own (--bucket-bytes
/// 1) and without padding: the token and the position embedding, or, where a pipeline has several stages,
/// each of them apart; a bucket for each block; the last layer norm. Cut matrices count by what this
/// tensor-parallel rank has. Both ends of a pipeline
/// hold the token embedding.
std::vector<std::int64_t> bucket_elements(const Job& job, const Place& place);

}  // namespace counting
