// The gradient of a whole model at one step, made alike by the driver and by the judge.
#pragma once

#include "lib/machine/nn/parameter.hpp"
#include "lib/machine/tensor/random.hpp"

namespace grid_test {

using namespace shardlings;

/// Normal numbers that depend on the parameter's name, the step and the place in the global tensor: the part
/// that `parameter` is.
inline std::vector<double> grid_gradient(const Parameter& parameter, std::uint64_t seed, std::int64_t step)
{
    const RandomStream stream(seed, fmt::format("{} {}", parameter.name, step));
    std::vector<double> values(static_cast<std::size_t>(parameter.elements()));
    parameter.slice.for_each_run([&](std::int64_t local, std::int64_t global, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i)
            values[static_cast<std::size_t>(local + i)] =
                stream.normal(static_cast<std::uint64_t>(global + i));
    });
    return values;
}

}  // namespace grid_test
