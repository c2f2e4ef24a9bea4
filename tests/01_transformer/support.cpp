#include "tests/01_transformer/support.hpp"

#include <algorithm>
#include <cmath>

#include "lib/machine/tensor/random.hpp"
#include "tests/lib/catch.hpp"

namespace lesson01 {

void judge(const std::string& file, const std::vector<Judged>& cases)
{
    std::vector<CaseInput> inputs;
    for (const Judged& one : cases) inputs.push_back(one.input);
    const std::vector<CaseResult> results = run_cases(file, inputs);
    std::string first;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (!results[i].failure.empty()) FAIL(results[i].failure);
        const std::string problem = cases[i].problem(results[i].ranks[0]);
        if (problem.empty()) continue;
        if (wrong++ == 0) first = fmt::format("{}:\n{}", cases[i].name, problem);
    }
    if (wrong > 0) FAIL(fmt::format("{}\n{} of {} cases are wrong", first, wrong, cases.size()));
}

json random_tensor(const std::string& name, const Shape& shape, DType dtype, double scale)
{
    return tensor_input(shape, dtype, random_values(name, elements_of(shape), dtype, scale));
}

json zeros(const Shape& shape, DType dtype)
{
    return tensor_input(shape, dtype, std::vector<double>(static_cast<std::size_t>(elements_of(shape)), 0.0));
}

std::vector<std::int32_t> random_ids(const std::string& name, std::int64_t count, std::int64_t below)
{
    std::vector<std::int32_t> ids;
    for (const double value : random_values(name, count, DType::fp64)) {
        const double share = 0.5 * std::erfc(-value / std::sqrt(2.0));  // uniform in (0, 1)
        ids.push_back(static_cast<std::int32_t>(
            std::min<double>(share * static_cast<double>(below), static_cast<double>(below - 1))));
    }
    return ids;
}

namespace {

Tensor make_exact(Device& device, const json& tensor, double (*function)(double))
{
    Tensor result(device, tensor.at("shape").get<Shape>(), DType::fp64, Category::activations);
    std::vector<double> values = tensor.at("values").get<std::vector<double>>();
    std::transform(values.begin(), values.end(), values.begin(), function);
    from_doubles(values, result);
    return result;
}

double largest_of(const std::vector<double>& values)
{
    double most = 0.0;
    for (const double value : values) most = std::max(most, std::abs(value));
    return most;
}

}  // namespace

Tensor exact(Device& device, const json& tensor)
{
    return make_exact(device, tensor, [](double x) { return x; });
}

Tensor absolute(Device& device, const json& tensor)
{
    return make_exact(device, tensor, [](double x) { return std::abs(x); });
}

json as_expected(const Tensor& tensor, DType dtype)
{
    return tensor_input(tensor.shape(), dtype, to_doubles(tensor));
}

double largest(const Tensor& tensor)
{
    return largest_of(to_doubles(tensor));
}

double largest(const json& tensor)
{
    return largest_of(tensor.at("values").get<std::vector<double>>());
}

Tolerance rounding(DType dtype, double steps, double magnitude)
{
    constexpr double smallest_half =
        0x1p-24;  // of fp16: what lies closer to 0 is rounded by up to half of it
    const double u = roundoff(sum_dtype(dtype));
    if (!is_sixteen_bit(dtype)) return {0.0, steps * u * magnitude};
    return {roundoff(dtype), steps * u * magnitude + (dtype == DType::fp16 ? smallest_half / 2.0 : 0.0)};
}

std::string compare_added(const std::string& name, const json& got, const json& expected, const json& before,
                          Tolerance tolerance)
{
    const std::string problem = compare(name, got, expected, tolerance);
    if (problem.empty()) return problem;
    json assigned = expected;
    for (std::size_t i = 0; i < assigned["values"].size(); ++i)
        assigned["values"][i] = expected["values"][i].get<double>() - before["values"][i].get<double>();
    const bool was_assigned = compare(name, got, assigned, tolerance).empty();
    return problem + (was_assigned ? "; it was assigned: add to the gradient that is there" : "");
}

std::string broken_promise(const RankResult& result, const Promise& promise)
{
    double returned = 0.0;
    for (const json& tensor : promise.returned)
        returned += static_cast<double>(tensor.at("values").size() *
                                        size_of(parse_dtype(tensor.at("dtype").get<std::string>())));
    const auto begin = result.measured.at("begin").get<double>();
    const double left = result.measured.at("current").get<double>() - begin - returned;
    const double beside = result.measured.at("peak").get<double>() - begin - returned;
    const auto flops = result.measured.at("flops").get<double>();
    const auto changed = result.outputs.at("changed").get<std::string>();
    std::vector<std::string> problems;
    if (!changed.empty()) problems.push_back(fmt::format("{} was changed: it is an input", changed));
    if (left != 0.0)
        problems.push_back(fmt::format(
            "{:+.0f} bytes are allocated in the end beside what is returned ({:.0f} bytes)", left, returned));
    if (!is_sixteen_bit(promise.dtype) && beside > promise.workspace)
        problems.push_back(fmt::format(
            "{:.0f} bytes were held at the peak beside what is returned ({:.0f} bytes), expected at "
            "most {:.0f}",
            beside, returned, promise.workspace));
    if (flops != promise.flops)
        problems.push_back(
            fmt::format("{:.0f} FLOPs were charged to the device, expected {:.0f}: are all matrix "
                        "products gemm's, and none superfluous?",
                        flops, promise.flops));
    return join(problems);
}

}  // namespace lesson01
