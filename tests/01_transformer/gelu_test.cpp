#include "lessons/01_transformer/gelu.hpp"

#include <cmath>

#include "tests/01_transformer/support.hpp"
#include "tests/lib/catch.hpp"

using namespace lesson01;

namespace {

/// y = x s with s = (1 + tanh u) / 2 between 0 and 1: the argument takes 5 roundings, which move s by at most
/// 5 max |2u s'(2u)| < 2 of them; exp or tanh, a sum and a quotient or product add fewer than 10.
constexpr double forward_steps = 16;

/// The slope holds 1 − tanh² or s (1 − s), which cancel: up to 8 roundings of 1 are left, times x u' / 2,
/// which is below 20 where tanh is not yet ±1 in its type (|x| < 7).
constexpr double backward_steps = 256;

struct Shapes {
    Shape x;
    double scale;  // of the random numbers

    std::string name(DType dtype) const { return fmt::format("x ({}), {}", to_string(x), name_of(dtype)); }
};

const std::vector<Shapes> all_shapes{{{2, 3, 5}, 1.0}, {{1, 1, 1}, 1.0}, {{7, 33}, 3.0}, {{65}, 1000.0}};

json forward_inputs(const Shapes& s, DType dtype)
{
    return {{"x", random_tensor("gelu x", s.x, dtype, s.scale)}};
}

json backward_inputs(const Shapes& s, DType dtype)
{
    return {{"dy", random_tensor("gelu dy", s.x, dtype)},
            {"x", random_tensor("gelu x", s.x, dtype, s.scale)}};
}

/// What to say when y is x Φ(x), Φ the normal distribution, for which GPT-2's formula stands in.
std::string hint(const RankResult& got, DType dtype, const json& x)
{
    json exact_gelu = x;
    for (json& number : exact_gelu["values"]) {
        const auto value = number.get<double>();
        number = value / 2 * (1 + std::erf(value / std::sqrt(2.0)));
    }
    const Tolerance close = rounding(dtype, forward_steps, largest(x));
    return compare("y", got.outputs.at("y"), exact_gelu, close).empty()
               ? "y is the exact GELU, with erf: GPT-2's is the formula with tanh"
               : "";
}

std::string forward_problem(const RankResult& got, const Shapes&, DType dtype, const json& in)
{
    Device device{DeviceOptions{}};
    const json y = as_expected(transformer::gelu_forward(exact(device, in.at("x"))), dtype);
    const std::string problem =
        compare("y", got.outputs.at("y"), y, rounding(dtype, forward_steps, largest(in.at("x"))));
    return join({problem, problem.empty() ? "" : hint(got, dtype, in.at("x")),
                 broken_promise(got, {{y}, 0.0, 0.0, dtype})});
}

std::string backward_problem(const RankResult& got, const Shapes&, DType dtype, const json& in)
{
    Device device{DeviceOptions{}};
    const json dx =
        as_expected(transformer::gelu_backward(exact(device, in.at("dy")), exact(device, in.at("x"))), dtype);
    return join(
        {compare("dx", got.outputs.at("dx"), dx, rounding(dtype, backward_steps, largest(in.at("dy")))),
         broken_promise(got, {{dx}, 0.0, 0.0, dtype})});
}

}  // namespace

TEST_CASE("01.2 gelu_forward: any shape and dtype", "[01.2]")
{
    judge("gelu", for_all(all_shapes, "gelu_forward", forward_inputs, forward_problem));
}

TEST_CASE("01.2 gelu_backward: any shape and dtype", "[01.2]")
{
    judge("gelu", for_all(all_shapes, "gelu_backward", backward_inputs, backward_problem));
}

// Computed to 30 digits with mpmath from the formula in the header.
TEST_CASE("01.2 gelu: the values at -1, 0.5, 1 and 3, 0 at 0, x or 0 far out", "[01.2]")
{
    const std::vector<double> x{-1.0, 0.5, 1.0, 3.0, 0.0, 100.0, -100.0, 1e4, -1e4};
    const std::vector<double> y{-0.158808009391723295,
                                0.345714009825143922,
                                0.841191990608276705,
                                2.99636260791822698,
                                0.0,
                                100.0,
                                0.0,
                                1e4,
                                0.0};
    const std::vector<double> slopes{-0.0829640838457825551,
                                     0.867369903534642312,
                                     1.08296408384578256,
                                     1.01158416663096973,
                                     0.5,
                                     1.0,
                                     0.0,
                                     1.0,
                                     0.0};
    const Shape shape{static_cast<std::int64_t>(x.size())};
    const std::vector<double> ones(x.size(), 1.0);
    std::vector<Judged> cases;
    for (const DType dtype : {DType::fp64, DType::fp32}) {
        const json in = tensor_input(shape, dtype, x);
        // y is within a few roundings of itself here, or of 0.16, whose sum 1 + tanh cancels.
        Tolerance close = rounding(dtype, forward_steps, 1.0);
        close.relative = forward_steps * roundoff(dtype);
        cases.push_back(
            {fmt::format("gelu_forward in {} of -1, 0.5, 1, 3, 0, 100, -100, 1e4, -1e4", name_of(dtype)),
             one_rank("gelu_forward", {{"x", in}}), [=](const RankResult& got) {
                 return compare("y", got.outputs.at("y"), tensor_input(shape, dtype, y), close);
             }});
        cases.push_back(
            {fmt::format("gelu_backward in {} of -1, 0.5, 1, 3, 0, 100, -100, 1e4, -1e4", name_of(dtype)),
             one_rank("gelu_backward", {{"dy", tensor_input(shape, dtype, ones)}, {"x", in}}),
             [=](const RankResult& got) {
                 return compare("dx", got.outputs.at("dx"), tensor_input(shape, dtype, slopes),
                                rounding(dtype, backward_steps, 1.0));
             }});
    }
    judge("gelu", cases);
}

TEST_CASE("01.2 gelu_backward: the derivative of gelu_forward", "[01.2]")
{
    const Shapes s{{2, 3, 5}, 1.0};
    const json backward = backward_inputs(s, DType::fp64);
    judge_derivative("gelu", {"gelu_forward",
                              "gelu_backward",
                              forward_inputs(s, DType::fp64),
                              backward,
                              "y",
                              backward.at("dy"),
                              {{"x"}}});
}
