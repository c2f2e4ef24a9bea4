// 01.2 The Gaussian error linear unit, in the form that GPT-2 uses (Hendrycks and Gimpel 2016).
#pragma once

#include "lib/machine/tensor/tensor.hpp"

namespace transformer {

using namespace shardlings;

/// y = x/2 (1 + tanh(u)) with u = sqrt(2/π) (x + 0.044715 x³), element by element.
Tensor gelu_forward(const Tensor& x);

/// Returns dx = dy (1 + tanh(u) + x (1 − tanh²(u)) u') / 2 with u' = sqrt(2/π) (1 + 3 · 0.044715 x²).
Tensor gelu_backward(const Tensor& dy, const Tensor& x);

}  // namespace transformer
