// The modules of one layer and of the head.
#include "tests/01_transformer/model_reference.hpp"
#include "tests/lib/catch.hpp"

using namespace lesson01;

namespace {

struct Sizes {
    std::int64_t sequences, tokens, hidden, heads, vocabulary;

    ModelShape shape() const { return {2, hidden, heads, tokens, vocabulary}; }
    Shape x() const { return {sequences, tokens, hidden}; }
    std::string name(DType dtype) const
    {
        return fmt::format("B = {}, T = {}, h = {}, a = {}, V = {}, {}", sequences, tokens, hidden, heads,
                           vocabulary, name_of(dtype));
    }
};

const std::vector<Sizes> all_sizes{{2, 5, 12, 3, 7}, {1, 1, 4, 1, 1}, {1, 7, 6, 1, 19}, {3, 2, 8, 4, 5}};

json block_inputs(const Sizes& s, DType dtype)
{
    json in = model_inputs(s.shape(), dtype);
    in["layer"] = 1;
    in["x"] = random_tensor("block x", s.x(), dtype);
    in["dy"] = random_tensor("block dy", s.x(), dtype);
    return in;
}

/// Multiplications and additions of a block's forward pass: 12 h² of each a token in the matrices, 2 T h in
/// attention.
std::int64_t block_flops(const Sizes& s)
{
    return s.sequences * s.tokens * (24 * s.hidden * s.hidden + 4 * s.tokens * s.hidden);
}

std::string block_forward_problem(const RankResult& got, const Sizes& s, DType dtype, const json& in)
{
    const Expected expected = with_sizes(block_reference, in).y;
    const Tolerance tolerance = chained(dtype, block_steps(s.shape()), block_stores, expected);
    const std::int64_t saved = block_saved_bytes(s.shape(), s.sequences, s.tokens, dtype);
    return join({compare("y", got.outputs.at("y"), expected.value, tolerance),
                 count_problem(got, "saved_bytes", "bytes that forward saves", saved),
                 count_problem(got, "forward_flops", "FLOPs of forward", block_flops(s))});
}

/// What backward gives besides numbers.
std::string freed_problem(const RankResult& got, std::int64_t flops)
{
    return join(
        {count_problem(got, "left_on_stack", "tensors of this module on the stack after backward", 0),
         count_problem(got, "left_bytes", "bytes that are still allocated after backward beside dx", 0),
         count_problem(got, "backward_flops", "FLOPs of backward", flops)});
}

std::string block_problem(const RankResult& got, const Sizes& s, DType dtype, const json& in)
{
    const ModelResult expected = with_sizes(block_reference, in);
    const double steps = block_steps(s.shape());
    return join({gradient_problem(got, expected, dtype, steps, block_stores),
                 compare("dx", got.outputs.at("gradient.x"), expected.dx.value,
                         chained(dtype, steps, block_stores, expected.dx)),
                 freed_problem(got, 2 * block_flops(s))});
}

json head_inputs(const Sizes& s, DType dtype)
{
    json in = model_inputs(s.shape(), dtype);
    std::vector<std::int32_t> targets = random_ids("head targets", s.sequences * s.tokens, s.vocabulary);
    for (std::size_t i = 1; i < targets.size(); i += 4) targets[i] = -1;
    in["x"] = random_tensor("head x", s.x(), dtype);
    in["targets"] = targets;
    in["sequences"] = s.sequences;
    in["token_weight"] = 0.5 / static_cast<double>(targets.size());
    in["dloss"] = 3.0;
    return in;
}

/// A layer norm, a sum of h products, one of V exponentials, and as much on the way back, three times in a
/// row.
double head_steps(const Sizes& s)
{
    return 3 * (3 * static_cast<double>(s.hidden) + static_cast<double>(s.vocabulary) + 40);
}
/// Roundings to 16 bits: z and the logits, then dlogits, dz and dx or a gradient, which is added.
constexpr double head_stores = 6;

std::int64_t head_flops(const Sizes& s)
{
    return 2 * s.sequences * s.tokens * s.hidden * s.vocabulary;
}

std::string head_forward_problem(const RankResult& got, const Sizes& s, DType dtype, const json& in)
{
    const Expected expected = with_sizes(head_reference, in).y;
    const Tolerance tolerance = chained(dtype, head_steps(s), head_stores, expected);
    const std::int64_t saved = head_saved_bytes(s.shape(), s.sequences, s.tokens, dtype);
    return join({compare("loss", got.outputs.at("y"), expected.value, tolerance),
                 count_problem(got, "saved_bytes", "bytes that forward saves", saved),
                 count_problem(got, "forward_flops", "FLOPs of forward", head_flops(s))});
}

std::string head_problem(const RankResult& got, const Sizes& s, DType dtype, const json& in)
{
    const ModelResult expected = with_sizes(head_reference, in);
    return join({gradient_problem(got, expected, dtype, head_steps(s), head_stores),
                 compare("dx", got.outputs.at("gradient.x"), expected.dx.value,
                         chained(dtype, head_steps(s), head_stores, expected.dx)),
                 freed_problem(got, 2 * head_flops(s))});
}

}  // namespace

TEST_CASE("01.7 block forward: y, and what it saves", "[01.7]")
{
    judge("model", for_all(all_sizes, "block_forward", block_inputs, block_forward_problem));
}

TEST_CASE("01.7 block backward: dx, gradients, everything freed", "[01.7]")
{
    judge("model", for_all(all_sizes, "block", block_inputs, block_problem));
}

TEST_CASE("01.7 head forward: the loss, and what it saves", "[01.7]")
{
    judge("model", for_all(all_sizes, "head_forward", head_inputs, head_forward_problem));
}

TEST_CASE("01.7 head backward: dx, gradients, everything freed", "[01.7]")
{
    judge("model", for_all(all_sizes, "head", head_inputs, head_problem));
}

TEST_CASE("01.7 block backward: the derivative of forward", "[01.7]")
{
    const Sizes s{2, 4, 6, 2, 5};
    const json in = from_zero(block_inputs(s, DType::fp64));
    judge_derivative("model", {"block",
                               "block",
                               in,
                               in,
                               "y",
                               in.at("dy"),
                               {{"h.1.mlp.c_proj.weight"},
                                {"h.1.mlp.c_fc.weight"},
                                {"h.1.ln_2.weight"},
                                {"h.1.attn.c_proj.weight"},
                                {"h.1.attn.c_attn.weight"},
                                {"h.1.ln_1.weight"},
                                {"x"}},
                               "gradient."});
}
