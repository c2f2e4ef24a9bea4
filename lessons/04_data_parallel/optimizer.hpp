// 04.4 The optimizer step over parts of the model, with the norm of the whole.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lessons/04_data_parallel/replica.hpp"

namespace data_parallel {

/// What the global norm is made of: [number of ranks whose gradients overflowed, then Σ g² of every segment
/// of every bucket, buckets from the first module's to the last's], 0 for segments that are not in the parts
/// held here. On every rank of plain data parallelism, and summed over the ranks with ZeRO, these are bitwise
/// the same numbers. `check_overflow`: with a loss scale only.
std::vector<double> norm_terms(const std::vector<Bucket>& buckets, int degree, Gradients& gradients,
                               bool check_overflow);

/// What an optimizer works on of one bucket: the part it updates, of the values and of the gradients, and its
/// states.
struct OptimizerPart {
    const Bucket* bucket;
    Chunk part;
    Tensor values;
    Tensor gradients;
    training::OptimizerStates* states;
};

/// The optimizer step over `parts`: lesson 02.4's update_parameters with the overflow and the norm taken from
/// `terms` (norm_terms, of the whole group). The padding stays zero.
training::UpdateResult update_parts(const training::AdamW& options, double max_norm,
                                    training::LossScale* loss_scale, std::span<const double> terms,
                                    std::span<OptimizerPart> parts);

/// Every rank has all states and updates everything.
std::unique_ptr<Optimizer> make_replicated_optimizer(const std::vector<Bucket>& buckets, int degree,
                                                     ParameterValues& values, Gradients& gradients);

}  // namespace data_parallel
