// 01.4 Causal multi-head self-attention (Vaswani et al. 2017), without its two linear layers.
//
// Shapes: qkv (B, T, 3h), whose columns are [Q | K | V], each cut into a heads of d = h / a columns;
// y (B, T, h), the heads side by side; probabilities (B, a, T, T).
#pragma once

#include "lib/machine/tensor/tensor.hpp"

namespace transformer {

using namespace shardlings;

struct AttentionOutput {
    Tensor y;
    Tensor probabilities;
};

/// For every sequence and head: P = softmax over the row of Q Kᵀ / sqrt(d), where token i sees tokens 0..i
/// only (P is 0 beyond); y = P V. Scores of any size are fine: the largest of a row is subtracted before exp.
/// 4 B T² h FLOPs, masked or not.
AttentionOutput attention_forward(const Tensor& qkv, std::int64_t heads);

/// Returns dqkv. dV = Pᵀ dy; dP = dy Vᵀ; dS = P (dP − Σ_row dP P); dQ = dS K / sqrt(d); dK = dSᵀ Q / sqrt(d).
/// 8 B T² h FLOPs. Holds one head's (T, T) of workspace at a time.
Tensor attention_backward(const Tensor& dy, const Tensor& qkv, const Tensor& probabilities,
                          std::int64_t heads);

}  // namespace transformer
