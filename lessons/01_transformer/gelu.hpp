// 01.2 The Gaussian error linear unit, in the form that GPT-2 uses (Hendrycks and Gimpel 2016).
#pragma once

#include "lib/machine/tensor/tensor.hpp"

namespace transformer {

using namespace shardlings;

/// y = x/2 (1 + tanh(u)) with u = sqrt(2/π) (x + 0.044715 x³), element by element.
Tensor gelu_forward(const Tensor& x);

/// Returns dx = dy · dy/dx at x.
Tensor gelu_backward(const Tensor& dy, const Tensor& x);

}  // namespace transformer
