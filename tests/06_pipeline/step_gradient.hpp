// The gradients of an optimizer step, made alike by the driver and by the judge.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "lib/machine/nn/parameter.hpp"
#include "lib/machine/tensor/random.hpp"

namespace pipeline_test {

using namespace shardlings;

struct StepGradient {
    std::uint64_t seed = 0;
    std::int64_t step = 0;
    double scale = 1.0;    // what the gradients carry
    std::string overflow;  // a parameter with an infinite element; empty: none
};

/// Numbers that depend on the parameter's name and the step, rounded to the dtype of `gradient`.
inline void set_gradient(const StepGradient& of, const std::string& name, Tensor& gradient)
{
    const RandomStream stream(of.seed, fmt::format("{} {}", name, of.step));
    std::vector<double> values(static_cast<std::size_t>(gradient.elements()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = of.scale * stream.normal(i);
    if (name == of.overflow) values.back() = std::numeric_limits<double>::infinity();
    from_doubles(values, gradient);
}

}  // namespace pipeline_test
