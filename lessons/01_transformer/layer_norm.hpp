// 01.3 Layer normalisation (Ba, Kiros and Hinton 2016). Shapes: x, y (..., h), gain and bias (h), mean and
// rstd (rows).
#pragma once

#include "lib/machine/tensor/tensor.hpp"

namespace transformer {

using namespace shardlings;

inline constexpr double layer_norm_epsilon = 1e-5;

/// What the backward pass needs besides x: one number a row, in the dtype of the computation (fp64, else
/// fp32).
struct LayerNormOutput {
    Tensor y;
    Tensor mean;
    Tensor rstd;  // 1 / sqrt(variance + epsilon)
};

/// For every row of h numbers: y = (x − mean) rstd gain + bias. The variance is the biased one, the mean of
/// (x − mean)², computed from the differences: mean(x²) − mean² loses all digits where the mean is large.
LayerNormOutput layer_norm_forward(const Tensor& x, const Tensor& gain, const Tensor& bias);

/// Returns dx; adds dgain += Σ_rows dy x̂ and dbias += Σ_rows dy, where x̂ = (x − mean) rstd.
/// dx = rstd (g − mean(g) − x̂ mean(g x̂)) with g = dy gain, means over the row.
Tensor layer_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& gain, const Tensor& mean,
                           const Tensor& rstd, Tensor& dgain, Tensor& dbias);

}  // namespace transformer
