// 08.4 The GPT with every matrix cut over the group (Megatron-LM). As lesson 01.7's modules, with the same
// names and initial values; each parameter's Slice says which part this rank has.
//
//   cut by columns   attn.c_attn (each head's Q, K and V on one rank), mlp.c_fc, and their biases
//   cut by rows      attn.c_proj, mlp.c_proj, wte (by entries of the vocabulary)
//   replicated       layer norms, the biases of the two c_proj, wpe
#pragma once

#include <memory>

#include "lessons/08_tensor_parallel/boundary.hpp"
#include "lessons/08_tensor_parallel/dropout.hpp"
#include "lib/machine/base/model_shape.hpp"

namespace tensor_parallel {

/// Error unless the group's size divides the heads and is not larger than the vocabulary.
void check_degree(const ModelShape& shape, int degree);

struct BlockOptions {
    /// After the embedding, the attention and the MLP, on the rows outside. (GPT-2 drops attention
    /// probabilities, too.)
    Dropout dropout{};
    /// Selective recomputation (Korthikanti et al. 2022, section 5): the attention's probabilities are not
    /// saved, B a T² / T_group elements, but computed again in backward from Q, K and V.
    bool recompute_attention = false;
};

std::unique_ptr<Module> make_embedding(Boundary& boundary, const ModelShape& shape, bool tied,
                                       const Dropout& dropout);
/// Enters and leaves twice forward (two all-reduces, with a replicated boundary); backward it leaves twice
/// and enters twice (two all-reduces), and the column-parallel layers let x enter again.
///
/// Saves, with R rows of which S are outside on this rank: 4 S h + 12 R h / T_group + B a T² / T_group
/// elements (x, u, both layer norms' outputs; Q, K, V, what the heads give, both of the MLP's inner
/// activations; probabilities, which recompute_attention leaves out) and 4 S statistics. backward writes dx
/// into dy.
std::unique_ptr<Module> make_block(Boundary& boundary, const ModelShape& shape, std::int64_t layer,
                                   const BlockOptions& options);
/// Every rank returns the whole loss. Saves x, z, 2 S h, and its logits, R V_r elements; 2 S + R statistics.
std::unique_ptr<Module> make_head(Boundary& boundary, const ModelShape& shape, Parameter& token_embedding);
Modules make_gpt(Boundary& boundary, const ModelShape& shape, const BlockOptions& options);

/// True for a parameter of which every rank of the group has all: it counts once in the norm and in a
/// checkpoint.
bool is_replicated(const Parameter& parameter);

}  // namespace tensor_parallel
