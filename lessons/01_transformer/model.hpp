// 01.7 The GPT-2 model (Radford et al. 2019) as a chain of modules: embedding, L blocks, head.
#pragma once

#include "lib/machine/base/model_shape.hpp"
#include "lib/machine/nn/module.hpp"

namespace transformer {

using namespace shardlings;

/// Parameters "wte.weight" (V, h) and "wpe.weight" (T, h). `tied`: a head on this device uses wte too, so the
/// lookup adds to wte's second gradient.
std::unique_ptr<Module> make_embedding(const ModelShape& shape, bool tied);

/// Block `layer`, pre-layer-norm:
///   u = x + linear(attention(linear(layer_norm(x))))        ln_1, attn.c_attn (h, 3h), attn.c_proj (h, h)
///   y = u + linear(gelu(linear(layer_norm(u))))             ln_2, mlp.c_fc (h, 4h), mlp.c_proj (4h, h)
/// Saves x, u, both layer norms' statistics and outputs, qkv, probabilities, the attention's and both of the
/// MLP's inner activations: 16 B T h + B a T² elements and 4 B T statistics.
std::unique_ptr<Module> make_block(const ModelShape& shape, std::int64_t layer);

/// Layer norm ln_f, logits = layer_norm(x) wteᵀ, mean cross-entropy. Uses the embedding's `token_embedding`.
std::unique_ptr<Module> make_head(const ModelShape& shape, Parameter& token_embedding);

/// Embedding, blocks, head, with the output layer tied to the token embedding.
Modules make_gpt(const ModelShape& shape);

/// Logits (B, T, V) of the model, without saving anything.
Tensor predict(const Modules& gpt, const MicroBatch& batch);

}  // namespace transformer
