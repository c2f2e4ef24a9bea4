// 01.7 The GPT-2 model (Radford et al. 2019) as a chain of modules: embedding, L blocks, head.
#pragma once

#include "lib/machine/base/model_shape.hpp"
#include "lib/machine/nn/module.hpp"

namespace transformer {

using namespace shardlings;

/// Parameters "wte.weight" (V, h) and "wpe.weight" (T, h). `tied`: a head on this device uses wte too, so the
/// lookup adds to wte's second gradient (allocated and zero when there is none). Saves nothing.
std::unique_ptr<Module> make_embedding(const ModelShape& shape, bool tied);

/// Block `layer`, pre-layer-norm:
///   u = x + linear(attention(linear(layer_norm(x))))        ln_1, attn.c_attn (h, 3h), attn.c_proj (h, h)
///   y = u + linear(gelu(linear(layer_norm(u))))             ln_2, mlp.c_fc (h, 4h), mlp.c_proj (4h, h)
/// Parameters "h.LAYER.ln_1.weight" and so on, each with its ".bias"; the two c_proj start smaller by the
/// factor 1 / sqrt(2 L), since 2 L of them add up.
///
/// Saves x, u, both layer norms' statistics and outputs, qkv, probabilities, the attention's and both of the
/// MLP's inner activations: 16 B T h + B a T² elements and 4 B T statistics. backward writes dx into dy.
std::unique_ptr<Module> make_block(const ModelShape& shape, std::int64_t layer);

/// z = layer_norm(x) with ln_f, logits = z wteᵀ, cross-entropy weighted by the batch's token_weight. Uses the
/// embedding's `token_embedding`: adds to its gradient, not to the second one.
///
/// Saves x, z and the logits, 2 B T h + B T V elements, and 3 B T numbers of the layer norm and the
/// cross-entropy.
std::unique_ptr<Module> make_head(const ModelShape& shape, Parameter& token_embedding);

/// Embedding, blocks, head, with the output layer tied to the token embedding. Error for sizes that do not
/// fit.
Modules make_gpt(const ModelShape& shape);

/// Logits (B, T, V) of the model, without saving anything.
Tensor predict(const Modules& gpt, const MicroBatch& batch);

}  // namespace transformer
