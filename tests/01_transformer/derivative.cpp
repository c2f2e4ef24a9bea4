// Gradients against differences of the forward pass.
#include <algorithm>
#include <array>
#include <cmath>

#include "tests/01_transformer/support.hpp"
#include "tests/lib/catch.hpp"

namespace lesson01 {

namespace {

/// f'(0) ≈ Σ_k weight_k (f(k s) − f(−k s)) / s, exact for polynomials of degree 6. Along a direction of n
/// random numbers, which is about sqrt(n) long, s = reach / sqrt(n): what is left out is reach⁶ / 140
/// ≈ 2.5e-17 times the seventh derivative along a unit direction, and rounding is 2⁻⁵³ / s < 1e-12 of the
/// objective's terms. 1e-7 of the slope is out of reach of both.
constexpr double reach = 0x1p-8;
constexpr std::array<double, 3> weights{45.0 / 60.0, -9.0 / 60.0, 1.0 / 60.0};
constexpr double allowed = 1e-7;

/// Of a tensor, or of a list of numbers.
std::vector<double> values_of(const json& numbers)
{
    return (numbers.is_array() ? numbers : numbers.at("values")).get<std::vector<double>>();
}

double dot(const std::vector<double>& a, const std::vector<double>& b)
{
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

std::vector<double> direction_of(const Derivative& d, const std::string& variable)
{
    const auto count = static_cast<std::int64_t>(values_of(d.inputs.at(variable)).size());
    return random_values(d.forward + " direction " + variable, count, DType::fp64);
}

/// The inputs with the variables moved by `distance` along their directions.
json moved(const Derivative& d, const std::vector<std::string>& variables, double distance)
{
    json inputs = d.inputs;
    for (const std::string& variable : variables) {
        std::vector<double> values = values_of(inputs.at(variable));
        const std::vector<double> direction = direction_of(d, variable);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] += distance * direction[i];
        inputs.at(variable)["values"] = values;
    }
    return inputs;
}

double step_of(const Derivative& d, const std::vector<std::string>& variables)
{
    std::size_t count = 0;
    for (const std::string& variable : variables) count += values_of(d.inputs.at(variable)).size();
    return reach / std::sqrt(static_cast<double>(count));
}

/// The derivative along a direction by backward's gradients, and its largest term.
std::pair<double, double> by_gradients(const Derivative& d, const std::vector<std::string>& variables,
                                       const json& outputs)
{
    double slope = 0.0;
    double largest_term = 0.0;
    for (const std::string& variable : variables) {
        const std::vector<double> gradient = values_of(outputs.at(d.prefix + variable));
        const std::vector<double> direction = direction_of(d, variable);
        slope += dot(gradient, direction);
        for (std::size_t i = 0; i < gradient.size(); ++i)
            largest_term = std::max(largest_term, std::abs(gradient[i] * direction[i]));
    }
    return {slope, largest_term};
}

std::string name_of(const std::vector<std::string>& variables)
{
    return variables.size() == 1 ? variables.front() : variables.front() + " … " + variables.back();
}

}  // namespace

void judge_derivative(const std::string& file, const Derivative& d)
{
    std::vector<CaseInput> cases{one_rank(d.backward, d.backward_inputs)};
    for (const auto& variables : d.directions) {
        const double step = step_of(d, variables);
        for (int k = 1; k <= 3; ++k)
            for (const int sign : {1, -1})
                cases.push_back(one_rank(d.forward, moved(d, variables, sign * k * step)));
    }
    const std::vector<CaseResult> results = run_cases(file, cases);
    for (const CaseResult& result : results)
        if (!result.failure.empty()) FAIL(result.failure);

    std::vector<std::string> problems;
    auto next = results.begin() + 1;
    for (const auto& variables : d.directions) {
        double slope = 0.0;
        for (const double weight : weights)
            for (const double sign : {1.0, -1.0})
                slope += sign * weight / step_of(d, variables) *
                         dot(values_of((next++)->ranks[0].outputs.at(d.output)), values_of(d.weights));
        const auto [got, largest_term] = by_gradients(d, variables, results[0].ranks[0].outputs);
        problems.push_back(
            compare_number(fmt::format("along a random direction of {0}, the derivative by {1}{0}",
                                       name_of(variables), d.prefix),
                           got, slope, {allowed, 1e-3 * allowed * largest_term}));
    }
    const std::string text = join(problems);
    if (!text.empty())
        FAIL(text + fmt::format("\n(expected: by differences of {} as you wrote it)", d.forward));
}

}  // namespace lesson01
