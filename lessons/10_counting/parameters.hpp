// 10.1 How many parameters a model has, and how many of them a device.
#pragma once

#include <vector>

#include "lessons/10_counting/job.hpp"

namespace counting {

/// The matrices of the whole model, as one counts on a napkin: biases and layer norms are left out.
struct RoughParameters {
    double attention;   // 4 h² L
    double mlp;         // 8 h² L
    double vocabulary;  // V h
    double positions;   // T h

    double total() const { return attention + mlp + vocabulary + positions; }
};
RoughParameters rough_parameters(const ModelShape& shape);

/// Given. Blocks of a stage, in all its chunks: chunk c of the model is on stage c mod P.
std::int64_t blocks_of_stage(const Job& job, int stage);
/// Given. Entries of the vocabulary on a rank of the tensor-parallel group: chunk_of(V, T_p, rank) of them.
std::int64_t vocabulary_of_rank(const Job& job, int tensor_rank);

/// Elements of each bucket of a device, in the model's order, without padding, when every module has a bucket
/// of its own (--bucket-bytes 1):
///   one stage   V h + T h (both embeddings), a bucket for each block, 2 h (the last layer norm)
///   several     first stage: V h (the token embedding), T h (the positions), its blocks;
///               last stage: V h (its own copy for the head), its blocks, 2 h; the others: their blocks
/// Of what is cut (lesson 08.4) this tensor-parallel rank's part counts: its entries of the vocabulary for V,
/// 1/T_p of a block's 12 h² + 7 h; layer norms, the biases of the two c_proj and the positions are on every
/// rank.
std::vector<std::int64_t> bucket_elements(const Job& job, const Place& place);

}  // namespace counting
