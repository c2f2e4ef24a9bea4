// 01.1 The linear layer. Shapes: x (..., n), w (n, m), b (m), y (..., m).
//
// Holds for all layers of this lesson: results are new tensors of the category activations and of the dtype
// of x; nothing else is left allocated; what comes in is not changed, except gradients, which are added to.
// fp64 is computed in double, everything else in float (lib/machine/tensor/real.hpp). Matrix products are
// gemm's, which charges the device for their FLOPs.
#pragma once

#include "lib/machine/tensor/tensor.hpp"

namespace transformer {

using namespace shardlings;

/// y = x w + b. 2 rows n m FLOPs, where rows is the product of the dimensions of x before the last.
Tensor linear_forward(const Tensor& x, const Tensor& w, const Tensor& b);

/// Returns dx = dy wᵀ; adds dw += xᵀ dy and db += the sum of dy over its rows. 4 rows n m FLOPs.
Tensor linear_backward(const Tensor& dy, const Tensor& x, const Tensor& w, Tensor& dw, Tensor& db);

}  // namespace transformer
