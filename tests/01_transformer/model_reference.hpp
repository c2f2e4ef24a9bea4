// The reference's modules in fp64, on the inputs that the driver's operations on modules get.
#pragma once

#include <string>
#include <vector>

#include "lib/machine/base/model_shape.hpp"
#include "lib/machine/nn/module.hpp"
#include "tests/01_transformer/support.hpp"

namespace lesson01 {

/// A tensor, and how far one unit of relative error on the way to it can move it, in units: by its largest
/// element, and by as much as it moves when everything that goes in moves by a unit, which is more where a
/// layer norm makes nearly constant rows large.
struct Expected {
    json value;
    double size = 0.0;
};

/// What a module or a model gives. Gradients are in the order of the backward pass: the first that is wrong
/// is where to look.
struct ModelResult {
    Expected y;  // of a module; the first micro-batch's logits of a model
    Expected dx;
    Expected losses;     // of a model, one a micro-batch
    double start = 0.0;  // of every element of every gradient
    std::vector<std::pair<std::string, Expected>> gradients;
};

/// The shape, the dtype, gradients that start at 0.25, and random values of the parameters: matrices of a
/// scale that makes attention far from uniform, gains around 1, biases that are not 0.
json model_inputs(const ModelShape& shape, DType dtype);

/// A copy with gradients that start at 0.
json from_zero(json inputs);

using Reference = ModelResult (*)(const json& inputs);

/// What the reference gives, with sizes.
ModelResult with_sizes(Reference reference, const json& inputs);

/// Of make_block: inputs layer, x, dy besides model_inputs.
ModelResult block_reference(const json& inputs);
/// Of make_head: inputs x, targets, sequences, token_weight, dloss.
ModelResult head_reference(const json& inputs);
/// Of make_gpt: inputs ids, targets (of all micro-batches), sequences (of one), micro_batches, token_weight,
/// dloss.
ModelResult gpt_reference(const json& inputs);

/// How far a result may be from what is expected when at most `computed` roundings of the type that is
/// computed in and `stored` roundings to 16 bits lie on the longest way to it.
Tolerance chained(DType dtype, double computed, double stored, const Expected& expected);

/// Compares the outputs "gradient.NAME", in order, up to the first that is wrong.
std::string gradient_problem(const RankResult& got, const ModelResult& expected, DType dtype, double computed,
                             double stored);

/// Empty when the output `name` is exactly `expected`; else "`label` is …, expected …".
std::string count_problem(const RankResult& got, const std::string& name, const std::string& label,
                          std::int64_t expected);

/// Roundings on the way through one block and back, through the whole model and back, and to 16 bits.
double block_steps(const ModelShape& shape);
double model_steps(const ModelShape& shape);
inline constexpr double block_stores = 26;  // 11 tensors on the way forward, 15 on the way back
inline double model_stores(const ModelShape& shape)
{
    return static_cast<double>(shape.layers + 1) * block_stores;
}

/// Bytes that a block and a head save for B sequences of T tokens.
std::int64_t block_saved_bytes(const ModelShape& shape, std::int64_t sequences, std::int64_t tokens,
                               DType dtype);
std::int64_t head_saved_bytes(const ModelShape& shape, std::int64_t sequences, std::int64_t tokens,
                              DType dtype);

}  // namespace lesson01
