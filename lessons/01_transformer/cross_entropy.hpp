// 01.6 Softmax and cross-entropy. Shapes: logits (..., V), seen as rows of V, one target a row; target −1:
// the row is not counted.
#pragma once

#include <span>

#include "lib/machine/tensor/tensor.hpp"

namespace transformer {

using namespace shardlings;

struct CrossEntropyOutput {
    Tensor loss;             // one fp64 number
    Tensor log_denominator;  // log Σ_j exp(logits[row, j]); rows, in the dtype of the computation (fp64, else
                             // fp32)
};

/// loss = weight Σ_rows (log Σ_j exp(logits[row, j]) − logits[row, target]), the sum over the counted rows in
/// fp64. `weight` is 1 / (counted rows of the whole global batch), so that losses of micro-batches and
/// devices add up to the mean. log_denominator is written for all rows. Logits of any size are fine: the
/// largest of a row is subtracted before exp. Error for a target outside the vocabulary.
CrossEntropyOutput cross_entropy_forward(const Tensor& logits, std::span<const std::int32_t> targets,
                                         double weight);

/// Returns dlogits = dloss weight (softmax(logits) − onehot(target)), 0 in rows that are not counted.
/// Takes the logits over and writes the result into their memory, since they are large: B T V elements.
Tensor cross_entropy_backward(double dloss, Tensor logits, const Tensor& log_denominator,
                              std::span<const std::int32_t> targets, double weight);

}  // namespace transformer
