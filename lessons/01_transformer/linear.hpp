// 01.1 The linear layer. Shapes: x (..., n), w (n, m), b (m), y (..., m).
#pragma once

#include "lib/machine/tensor/tensor.hpp"

namespace transformer {

using namespace shardlings;

/// y = x w + b. The result is a new tensor of activations with the dtype of x.
Tensor linear_forward(const Tensor& x, const Tensor& w, const Tensor& b);

/// Returns dx = dy wᵀ; adds dw += xᵀ dy and db += the sum of dy over its rows.
Tensor linear_backward(const Tensor& dy, const Tensor& x, const Tensor& w, Tensor& dw, Tensor& db);

}  // namespace transformer
