// 08.5 Dropout whose mask depends on where an element is in the global batch, and not on how that is laid
// out.
#pragma once

#include <cstdint>
#include <string_view>

#include "lib/machine/nn/module.hpp"

namespace tensor_parallel {

using namespace shardlings;

/// Which elements are dropped: of one place in the model (`name`), in one step.
struct Dropout {
    double probability = 0.0;  // 0 <= p < 1
    std::uint64_t seed = 1;
};

/// x[row, c] = keeps(row, c) ? x[row, c] / (1 − p) : 0, for rows of h elements; row i of x is row `first_row`
/// + i of the micro-batch, token (first_row + i) mod T of its sequence (first_row + i) / T; rows behind the
/// last are left alone. keeps is true when number ((sequence in the global batch · T + token) h + c) of the
/// random stream (seed, "dropout NAME STEP") is p or more. The same call on dx is the backward pass: no mask
/// is saved. Nothing is dropped when p = 0, or in a micro-batch of step 0, which is not training.
void apply_dropout(const Dropout& dropout, std::string_view name, const MicroBatch& batch,
                   std::int64_t first_row, Tensor& x);

}  // namespace tensor_parallel
