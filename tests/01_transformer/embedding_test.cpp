#include "lessons/01_transformer/embedding.hpp"

#include "tests/01_transformer/support.hpp"
#include "tests/lib/catch.hpp"

using namespace lesson01;

namespace {

struct Shapes {
    std::int64_t sequences, tokens, positions, vocabulary, hidden;

    std::string name(DType dtype) const
    {
        return fmt::format("B = {}, T = {} of {} positions, V = {}, h = {}, {}", sequences, tokens, positions,
                           vocabulary, hidden, name_of(dtype));
    }
    std::vector<std::int32_t> ids() const
    {
        return random_ids("embedding ids", sequences * tokens, vocabulary);
    }
};

// More tokens than vocabulary: ids repeat. More vocabulary than tokens: rows that nothing is added to.
const std::vector<Shapes> all_shapes{
    {2, 5, 5, 3, 4}, {1, 1, 1, 1, 1}, {1, 7, 9, 33, 5}, {3, 1, 4, 2, 8}, {4, 3, 3, 11, 2}};

json forward_inputs(const Shapes& s, DType dtype)
{
    return {{"ids", s.ids()},
            {"sequences", s.sequences},
            {"wte", random_tensor("embedding wte", {s.vocabulary, s.hidden}, dtype)},
            {"wpe", random_tensor("embedding wpe", {s.positions, s.hidden}, dtype)}};
}

std::string forward_problem(const RankResult& got, const Shapes& s, DType dtype, const json& in)
{
    Device device{DeviceOptions{}};
    const json y =
        as_expected(transformer::embedding_forward(s.ids(), s.sequences, exact(device, in.at("wte")),
                                                   exact(device, in.at("wpe"))),
                    dtype);
    // One sum.
    const double size = largest(in.at("wte")) + largest(in.at("wpe"));
    return join({compare("y", got.outputs.at("y"), y, rounding(dtype, 1.0, size)),
                 broken_promise(got, {{y}, 0.0, 0.0, dtype})});
}

json backward_inputs(const Shapes& s, DType dtype)
{
    return {{"ids", s.ids()},
            {"dy", random_tensor("embedding dy", {s.sequences, s.tokens, s.hidden}, dtype)},
            {"dwte", random_tensor("embedding dwte", {s.vocabulary, s.hidden}, dtype)},
            {"dwpe", random_tensor("embedding dwpe", {s.positions, s.hidden}, dtype)}};
}

std::string backward_problem(const RankResult& got, const Shapes& s, DType dtype, const json& in)
{
    Device device{DeviceOptions{}};
    Tensor dwte = exact(device, in.at("dwte"));
    Tensor dwpe = exact(device, in.at("dwpe"));
    transformer::embedding_backward(exact(device, in.at("dy")), s.ids(), dwte, dwpe);
    // At most all B T rows are added to one row.
    const auto rows = static_cast<double>(s.sequences * s.tokens);
    const double dy = largest(in.at("dy"));
    return join({compare_added("dwte", got.outputs.at("dwte"), as_expected(dwte, dtype), in.at("dwte"),
                               rounding(dtype, rows, largest(in.at("dwte")) + rows * dy)),
                 compare_added("dwpe", got.outputs.at("dwpe"), as_expected(dwpe, dtype), in.at("dwpe"),
                               rounding(dtype, rows, largest(in.at("dwpe")) + rows * dy)),
                 broken_promise(got, {{}, 0.0, 0.0, dtype})});
}

}  // namespace

TEST_CASE("01.5 embedding_forward: y = wte[id] + wpe[position]", "[01.5]")
{
    judge("embedding", for_all(all_shapes, "embedding_forward", forward_inputs, forward_problem));
}

TEST_CASE("01.5 embedding_backward: added to dwte and dwpe", "[01.5]")
{
    judge("embedding", for_all(all_shapes, "embedding_backward", backward_inputs, backward_problem));
}

TEST_CASE("01.5 embedding_backward: the derivative of embedding_forward", "[01.5]")
{
    const Shapes s{2, 4, 5, 3, 3};
    json backward = backward_inputs(s, DType::fp64);
    backward["dwte"] = zeros({s.vocabulary, s.hidden}, DType::fp64);
    backward["dwpe"] = zeros({s.positions, s.hidden}, DType::fp64);
    judge_derivative("embedding", {"embedding_forward",
                                   "embedding_backward",
                                   forward_inputs(s, DType::fp64),
                                   backward,
                                   "y",
                                   backward.at("dy"),
                                   {{"wte"}, {"wpe"}}});
}
