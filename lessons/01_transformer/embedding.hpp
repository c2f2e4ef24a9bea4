// 01.5 Token and position embeddings. Shapes: ids (B x T), wte (V, h), wpe (at least T, h), y (B, T, h).
#pragma once

#include <span>

#include "lib/machine/tensor/tensor.hpp"

namespace transformer {

using namespace shardlings;

/// y[b, t] = wte[ids[b, t]] + wpe[t]. Error for an id outside the vocabulary or more tokens than positions.
Tensor embedding_forward(std::span<const std::int32_t> ids, std::int64_t sequences, const Tensor& wte,
                         const Tensor& wpe);

/// Adds dy[b, t] to dwte[ids[b, t]] and to dwpe[t]; an id that occurs twice gets both.
void embedding_backward(const Tensor& dy, std::span<const std::int32_t> ids, Tensor& dwte, Tensor& dwpe);

}  // namespace transformer
