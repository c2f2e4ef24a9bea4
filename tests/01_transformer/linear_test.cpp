#include "lessons/01_transformer/linear.hpp"

#include "tests/01_transformer/support.hpp"
#include "tests/lib/catch.hpp"

using namespace lesson01;

namespace {

struct Shapes {
    Shape x;  // (..., n)
    std::int64_t m;

    std::int64_t n() const { return x.back(); }
    std::int64_t rows() const { return elements_of(x) / n(); }
    Shape y() const
    {
        Shape shape = x;
        shape.back() = m;
        return shape;
    }
    double product_flops() const { return 2.0 * static_cast<double>(rows() * n() * m); }
    std::string name(DType dtype) const
    {
        return fmt::format("x ({}), w ({} x {}), {}", to_string(x), n(), m, name_of(dtype));
    }
};

const std::vector<Shapes> all_shapes{
    {{2, 3, 5}, 4}, {{1, 1, 1}, 1}, {{1, 7, 8}, 3}, {{3, 1, 17}, 33}, {{6, 4}, 9}};

json forward_inputs(const Shapes& s, DType dtype)
{
    return {{"x", random_tensor("linear x", s.x, dtype)},
            {"w", random_tensor("linear w", {s.n(), s.m}, dtype)},
            {"b", random_tensor("linear b", {s.m}, dtype)}};
}

json backward_inputs(const Shapes& s, DType dtype)
{
    return {{"dy", random_tensor("linear dy", s.y(), dtype)},
            {"x", random_tensor("linear x", s.x, dtype)},
            {"w", random_tensor("linear w", {s.n(), s.m}, dtype)},
            {"dw", random_tensor("linear dw", {s.n(), s.m}, dtype)},
            {"db", random_tensor("linear db", {s.m}, dtype)}};
}

std::string forward_problem(const RankResult& got, const Shapes& s, DType dtype, const json& in)
{
    Device device{DeviceOptions{}};
    const auto linear = [&](auto values) {
        return transformer::linear_forward(values(device, in.at("x")), values(device, in.at("w")),
                                           values(device, in.at("b")));
    };
    const json y = as_expected(linear(exact), dtype);
    // A sum of n products and b: at most n + 1 roundings, each of no more than Σ |x| |w| + |b|.
    const double size = largest(linear(absolute));
    return join({compare("y", got.outputs.at("y"), y, rounding(dtype, static_cast<double>(s.n() + 1), size)),
                 broken_promise(got, {{y}, 0.0, s.product_flops(), dtype})});
}

std::string backward_problem(const RankResult& got, const Shapes& s, DType dtype, const json& in)
{
    Device device{DeviceOptions{}};
    struct Result {
        Tensor dx, dw, db;
    };
    const auto linear = [&](auto values) {
        Result r{{}, values(device, in.at("dw")), values(device, in.at("db"))};
        r.dx = transformer::linear_backward(values(device, in.at("dy")), values(device, in.at("x")),
                                            values(device, in.at("w")), r.dw, r.db);
        return r;
    };
    const Result expected = linear(exact);
    const Result sizes = linear(absolute);
    const auto bound = [&](const Tensor& size, std::int64_t terms) {
        return rounding(dtype, static_cast<double>(terms + 1), largest(size));
    };
    return join(
        {compare("dx", got.outputs.at("dx"), as_expected(expected.dx, dtype), bound(sizes.dx, s.m)),
         compare_added("dw", got.outputs.at("dw"), as_expected(expected.dw, dtype), in.at("dw"),
                       bound(sizes.dw, s.rows())),
         compare_added("db", got.outputs.at("db"), as_expected(expected.db, dtype), in.at("db"),
                       bound(sizes.db, s.rows())),
         broken_promise(got, {{as_expected(expected.dx, dtype)}, 0.0, 2.0 * s.product_flops(), dtype})});
}

}  // namespace

TEST_CASE("01.1 linear_forward: y = x w + b", "[01.1]")
{
    judge("linear", for_all(all_shapes, "linear_forward", forward_inputs, forward_problem));
}

TEST_CASE("01.1 linear_backward: dx, and gradients added to those of w and b", "[01.1]")
{
    judge("linear", for_all(all_shapes, "linear_backward", backward_inputs, backward_problem));
}

TEST_CASE("01.1 linear_backward: the derivative of linear_forward", "[01.1]")
{
    const Shapes s{{2, 3, 5}, 4};
    json backward = backward_inputs(s, DType::fp64);
    backward["dw"] = zeros({s.n(), s.m}, DType::fp64);
    backward["db"] = zeros({s.m}, DType::fp64);
    judge_derivative("linear", {"linear_forward",
                                "linear_backward",
                                forward_inputs(s, DType::fp64),
                                backward,
                                "y",
                                backward.at("dy"),
                                {{"x"}, {"w"}, {"b"}}});
}
