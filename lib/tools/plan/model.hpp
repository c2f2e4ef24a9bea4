// A model whose cost is counted: of GPT's kind, or of Llama's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/10_counting/flops.hpp"

namespace shardlings::plan {

/// L layers, h hidden, a heads of h / a, s tokens a sequence, V vocabulary. What is not said is GPT-2's.
struct Model {
    std::string name = "of flags";
    std::int64_t layers = 0;
    std::int64_t hidden = 0;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;  // of keys and values; 0: as many as heads
    std::int64_t mlp = 0;       // f, the width of the MLP; 0: 4 h
    std::int64_t sequence = 2048;
    std::int64_t vocabulary = 50257;
    bool gated = false;     // SwiGLU: three matrices h x f instead of two
    bool tied = true;       // the output layer is the token embedding
    bool biases = true;     // of linear layers
    bool positions = true;  // a learned embedding of s x h
    bool rms_norm = false;  // a norm has h parameters instead of 2 h
    bool dropout = true;    // masks of one byte an element are kept

    /// Columns of Q, K and V together, h (1 + 2 kv / a).
    std::int64_t qkv_columns() const { return hidden + 2 * kv_heads * (hidden / heads); }
    std::int64_t mlp_matrices() const { return gated ? 3 : 2; }

    /// The open sizes (kv_heads, mlp) set, all checked: Error for what is missing or does not divide.
    void finish();
};

/// Of a block, in parts that tensor parallelism cuts and parts that every rank has: norms, and the biases of
/// the two row-parallel layers.
struct BlockParameters {
    std::int64_t cut;
    std::int64_t whole;

    std::int64_t all() const { return cut + whole; }
};
BlockParameters block_parameters(const Model& model);

/// Matrices alone, as on a napkin (lesson 10.1): attention h (columns of QKV + h), 4 h² where kv = a; MLP
/// 2 h f or 3 h f; vocabulary V h, twice when it is not tied; positions s h.
struct RoughParameters {
    double attention;
    double mlp;
    double vocabulary;
    double positions;

    double total() const { return attention + mlp + vocabulary + positions; }
};
RoughParameters rough_parameters(const Model& model);

/// Every parameter: with biases and norms.
std::int64_t exact_parameters(const Model& model);

/// Lesson 10.3's table of one sequence's forward pass; its QKV term with kv heads for K and V, its MLP with
/// the third matrix where there is one.
counting::SequenceFlops sequence_flops(const Model& model);

/// The models that have a name. Error naming them all when there is no such model.
const std::vector<Model>& named_models();
Model named_model(std::string_view name);

/// A JSON object with the members of Model; Error for others, and for values that are none.
Model read_model(const std::string& path);

}  // namespace shardlings::plan
