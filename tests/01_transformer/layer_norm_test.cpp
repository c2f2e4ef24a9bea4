#include "lessons/01_transformer/layer_norm.hpp"

#include <cmath>

#include "tests/01_transformer/support.hpp"
#include "tests/lib/catch.hpp"

using namespace lesson01;

namespace {

struct Shapes {
    Shape x;  // (..., h)

    std::int64_t h() const { return x.back(); }
    std::int64_t rows() const { return elements_of(x) / h(); }
    std::string name(DType dtype) const { return fmt::format("x ({}), {}", to_string(x), name_of(dtype)); }
};

const std::vector<Shapes> all_shapes{{{2, 3, 5}}, {{1, 1, 1}}, {{1, 7, 8}}, {{3, 1, 33}}, {{4, 2}}};

json forward_inputs(const Shapes& s, DType dtype)
{
    return {{"x", random_tensor("layer_norm x", s.x, dtype)},
            {"gain", random_tensor("layer_norm gain", {s.h()}, dtype)},
            {"bias", random_tensor("layer_norm bias", {s.h()}, dtype)}};
}

transformer::LayerNormOutput reference(Device& device, const json& in)
{
    return transformer::layer_norm_forward(exact(device, in.at("x")), exact(device, in.at("gain")),
                                           exact(device, in.at("bias")));
}

/// Errors of the forward pass, in roundings u of numbers up to |x|: the mean h, a difference from it 2 more.
/// Relative errors of rstd: half of the variance's, which are h + 4 roundings and twice the differences' in
/// units of the deviation, and 4 of the root and the quotient.
struct ForwardErrors {
    double mean, rstd, normalised;

    ForwardErrors(const Shapes& s, DType dtype, double most_x, double most_rstd)
    {
        const double u = roundoff(sum_dtype(dtype));
        const auto h = static_cast<double>(s.h());
        mean = h * u * most_x;
        const double difference = (mean + 2 * u * most_x) * most_rstd;
        const double relative = (h + 4) * u / 2 + difference + difference * difference / 2 + 4 * u;
        rstd = relative * most_rstd;
        normalised = difference + std::sqrt(h) * (relative + 2 * u);  // |x̂| <= sqrt(h)
    }
};

std::string forward_problem(const RankResult& got, const Shapes& s, DType dtype, const json& in)
{
    Device device{DeviceOptions{}};
    const transformer::LayerNormOutput expected = reference(device, in);
    const ForwardErrors errors(s, dtype, largest(in.at("x")), largest(expected.rstd));
    const double y_error =
        largest(in.at("gain")) * errors.normalised + 3 * roundoff(sum_dtype(dtype)) * largest(expected.y);
    Tolerance y_tolerance = rounding(dtype, 0.0, 0.0);
    y_tolerance.absolute += y_error + 3 * roundoff(sum_dtype(dtype)) * largest(in.at("bias"));
    const json y = as_expected(expected.y, dtype);
    const json mean = as_expected(expected.mean, sum_dtype(dtype));
    const json rstd = as_expected(expected.rstd, sum_dtype(dtype));
    std::string mean_problem = compare("mean", got.outputs.at("mean"), mean, {0.0, errors.mean});
    if (!mean_problem.empty() && is_sixteen_bit(dtype)) mean_problem += "; are sums over a row in float?";
    return join({mean_problem, compare("rstd", got.outputs.at("rstd"), rstd, {0.0, errors.rstd}),
                 compare("y", got.outputs.at("y"), y, y_tolerance),
                 broken_promise(got, {{y, mean, rstd}, 0.0, 0.0, dtype})});
}

json backward_inputs(const Shapes& s, DType dtype)
{
    json in = forward_inputs(s, dtype);
    Device device{DeviceOptions{}};
    const transformer::LayerNormOutput forward = reference(device, in);
    in.erase("bias");
    in["dy"] = random_tensor("layer_norm dy", s.x, dtype);
    in["mean"] = as_expected(forward.mean, sum_dtype(dtype));
    in["rstd"] = as_expected(forward.rstd, sum_dtype(dtype));
    if (dtype != DType::fp64)  // as they are stored
        for (const char* name : {"mean", "rstd"})
            for (json& value : in[name]["values"])
                value = static_cast<double>(static_cast<float>(value.get<double>()));
    in["dgain"] = random_tensor("layer_norm dgain", {s.h()}, dtype);
    in["dbias"] = random_tensor("layer_norm dbias", {s.h()}, dtype);
    return in;
}

std::string backward_problem(const RankResult& got, const Shapes& s, DType dtype, const json& in)
{
    Device device{DeviceOptions{}};
    Tensor dgain = exact(device, in.at("dgain"));
    Tensor dbias = exact(device, in.at("dbias"));
    const Tensor expected = transformer::layer_norm_backward(
        exact(device, in.at("dy")), exact(device, in.at("x")), exact(device, in.at("gain")),
        exact(device, in.at("mean")), exact(device, in.at("rstd")), dgain, dbias);
    const auto h = static_cast<double>(s.h());
    const auto rows = static_cast<double>(s.rows());
    const double rstd = largest(in.at("rstd"));
    const double dy = largest(in.at("dy"));
    const double g = dy * largest(in.at("gain"));
    const double normalised =
        std::sqrt(h) + 1.0;  // |x̂| <= sqrt(h), and 1 for what 32 bits of statistics move it
    // x̂: the difference is one rounding of 2 |x|, the product another two of |x̂|. dx: three terms of up to
    // g (1 + 1 + x̂²) rstd with sums over h, and twice the error of x̂ in the last.
    const double normalised_steps = 2 * largest(in.at("x")) * rstd + 2 * normalised;
    const double dx_steps = (h + 8) * (2 + normalised * normalised) + 2 * normalised * normalised_steps;
    const json dx = as_expected(expected, dtype);
    return join({compare("dx", got.outputs.at("dx"), dx, rounding(dtype, dx_steps, rstd * g)),
                 compare_added("dgain", got.outputs.at("dgain"), as_expected(dgain, dtype), in.at("dgain"),
                               rounding(dtype, (rows + 2) * normalised + rows * normalised_steps,
                                        largest(in.at("dgain")) + rows * dy)),
                 compare_added("dbias", got.outputs.at("dbias"), as_expected(dbias, dtype), in.at("dbias"),
                               rounding(dtype, rows + 1, largest(in.at("dbias")) + rows * dy)),
                 broken_promise(got, {{dx}, 0.0, 0.0, dtype})});
}

}  // namespace

TEST_CASE("01.3 layer_norm_forward: y, mean and rstd", "[01.3]")
{
    judge("layer_norm", for_all(all_shapes, "layer_norm_forward", forward_inputs, forward_problem));
}

TEST_CASE("01.3 layer_norm_forward: a row by hand, constant rows, rows far from 0", "[01.3]")
{
    // mean 2.5, differences ∓1.5 and ∓0.5, variance 1.25.
    const std::vector<double> row{1.0, 2.0, 3.0, 4.0};
    const double rstd = 1.0 / std::sqrt(1.25 + 1e-5);
    const json ones = tensor_input({4}, DType::fp64, {1, 1, 1, 1});
    const json zero = zeros({4}, DType::fp64);
    std::vector<Judged> cases;
    cases.push_back(
        {"the row 1, 2, 3, 4 with gain 1 and bias 0",
         one_rank("layer_norm_forward",
                  {{"x", tensor_input({1, 4}, DType::fp64, row)}, {"gain", ones}, {"bias", zero}}),
         [=](const RankResult& got) {
             const json y =
                 tensor_input({1, 4}, DType::fp64, {-1.5 * rstd, -0.5 * rstd, 0.5 * rstd, 1.5 * rstd});
             return compare("y", got.outputs.at("y"), y, {0.0, 8 * roundoff(DType::fp64)});
         }});
    cases.push_back(
        {"a row of equal numbers: y = bias, rstd = 1 / sqrt(1e-5)",
         one_rank("layer_norm_forward",
                  {{"x", tensor_input({1, 4}, DType::fp64, {3, 3, 3, 3})}, {"gain", ones}, {"bias", ones}}),
         [=](const RankResult& got) {
             return join({compare("y", got.outputs.at("y"), tensor_input({1, 4}, DType::fp64, {1, 1, 1, 1}),
                                  {0.0, 0.0}),
                          compare("rstd", got.outputs.at("rstd"),
                                  tensor_input({1}, DType::fp64, {1.0 / std::sqrt(1e-5)}),
                                  {4 * roundoff(DType::fp64), 0.0})});
         }});
    // 4096 + (0 … 63) / 16: fp32 holds them exactly, but not their squares' mean minus the mean's square.
    std::vector<double> far(64);
    for (std::size_t i = 0; i < far.size(); ++i) far[i] = 4096.0 + static_cast<double>(i) / 16.0;
    const json in = {{"x", tensor_input({1, 64}, DType::fp32, far)},
                     {"gain", tensor_input({64}, DType::fp32, std::vector<double>(64, 1.0))},
                     {"bias", zeros({64}, DType::fp32)}};
    cases.push_back({"x = 4096 + i / 16 in fp32: is the variance computed from x − mean?",
                     one_rank("layer_norm_forward", in), [=](const RankResult& got) {
                         return forward_problem(got, {{1, 64}}, DType::fp32, in);
                     }});
    judge("layer_norm", cases);
}

TEST_CASE("01.3 layer_norm_backward: dx, and gradients added to those of gain and bias", "[01.3]")
{
    judge("layer_norm", for_all(all_shapes, "layer_norm_backward", backward_inputs, backward_problem));
}

TEST_CASE("01.3 layer_norm_backward: the derivative of layer_norm_forward", "[01.3]")
{
    const Shapes s{{2, 3, 5}};
    json backward = backward_inputs(s, DType::fp64);
    backward["dgain"] = zeros({s.h()}, DType::fp64);
    backward["dbias"] = zeros({s.h()}, DType::fp64);
    judge_derivative("layer_norm", {"layer_norm_forward",
                                    "layer_norm_backward",
                                    forward_inputs(s, DType::fp64),
                                    backward,
                                    "y",
                                    backward.at("dy"),
                                    {{"x"}, {"gain"}, {"bias"}}});
}
