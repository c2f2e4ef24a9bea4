// Gradients in fp64 against differences of the forward pass, element by element.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "lib/machine/tensor/random.hpp"
#include "lib/machine/tensor/tensor.hpp"
#include "tests/lib/catch.hpp"

namespace differences {

using namespace shardlings;

/// A tensor that the objective depends on, and the gradient to be checked.
struct Variable {
    std::string name;
    Tensor* value;
    std::vector<double> gradient;
};

/// The derivative of objective() by the number `x` that it reads: Σ_k weight_k (f(x + k h) − f(x − k h)) / h,
/// which is of order 6. With h = 2⁻⁹ what is left out is h⁶ f⁽⁷⁾ / 140 ≈ 4e-19 f⁽⁷⁾, and rounding is
/// 2⁻⁵³ / h ≈ 6e-14 of the objective's terms.
inline double derivative(double& x, const std::function<double()>& objective)
{
    constexpr double h = 0x1p-9;
    constexpr std::array<double, 3> weights{45.0 / 60.0, -9.0 / 60.0, 1.0 / 60.0};
    const double middle = x;
    double slope = 0.0;
    for (std::size_t k = 0; k < weights.size(); ++k)
        for (const double sign : {1.0, -1.0}) {
            x = middle + sign * static_cast<double>(k + 1) * h;
            slope += sign * weights[k] * objective() / h;
        }
    x = middle;
    return slope;
}

/// Every element of every gradient to 1e-7 relative; of elements below a thousandth of the tensor's largest,
/// relative to that.
inline void check_gradients(const std::string& what, const std::function<double()>& objective,
                            const std::vector<Variable>& variables)
{
    for (const Variable& variable : variables) {
        double largest = 0.0;
        for (const double g : variable.gradient) largest = std::max(largest, std::abs(g));
        const std::span<double> values = variable.value->span<double>();
        REQUIRE(values.size() == variable.gradient.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double expected = derivative(values[i], objective);
            const double error = std::abs(variable.gradient[i] - expected);
            INFO(what << ": gradient of " << variable.name << ", element " << i << ": "
                      << variable.gradient[i] << ", by differences " << expected);
            CHECK(error <= 1e-7 * std::max(std::abs(expected), 1e-3 * largest));
        }
    }
}

inline Tensor random_tensor(Device& device, const std::string& name, const Shape& shape, double scale = 1.0,
                            double middle = 0.0)
{
    Tensor tensor(device, shape, DType::fp64, Category::activations);
    const RandomStream stream(1, name);
    for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.elements()); ++i)
        tensor.span<double>()[i] = middle + scale * stream.normal(i);
    return tensor;
}

inline Tensor zeros(Device& device, const Shape& shape)
{
    Tensor tensor(device, shape, DType::fp64, Category::gradients);
    tensor.fill_zero();
    return tensor;
}

inline double dot(const Tensor& a, const Tensor& b)
{
    double sum = 0.0;
    for (std::size_t i = 0; i < a.span<double>().size(); ++i)
        sum += a.span<double>()[i] * b.span<double>()[i];
    return sum;
}

inline std::vector<std::int32_t> random_ids(const std::string& name, std::int64_t count, std::int64_t below)
{
    const RandomStream stream(1, name);
    std::vector<std::int32_t> ids;
    for (std::int64_t i = 0; i < count; ++i)
        ids.push_back(static_cast<std::int32_t>(stream.bits(static_cast<std::uint64_t>(i)) %
                                                static_cast<std::uint64_t>(below)));
    return ids;
}

}  // namespace differences
