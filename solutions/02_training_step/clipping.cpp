#include "lessons/02_training_step/clipping.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "lib/machine/tensor/tensor.hpp"

using namespace training;

double training::sum_of_squares(ConstBuffer gradient)
{
    // BEGIN SOLUTION 02.2 sum_of_squares
    constexpr std::int64_t chunk = 1024;
    std::array<double, chunk> values{};
    double sum = 0.0;
    for (std::int64_t i = 0; i < gradient.count; i += chunk) {
        const std::int64_t count = std::min(chunk, gradient.count - i);
        convert(gradient.part(i, count), {reinterpret_cast<std::byte*>(values.data()), count, DType::fp64});
        for (std::int64_t j = 0; j < count; ++j)
            sum += values[static_cast<std::size_t>(j)] * values[static_cast<std::size_t>(j)];
    }
    return sum;
    // END SOLUTION
}

double training::global_norm(std::span<const double> sums_of_squares)
{
    // BEGIN SOLUTION 02.2 global_norm
    double sum = 0.0;
    for (const double part : sums_of_squares) sum += part;
    return std::sqrt(sum);
    // END SOLUTION
}

double training::clip_factor(double norm, double max_norm)
{
    // BEGIN SOLUTION 02.2 clip_factor
    return max_norm > 0.0 ? std::min(1.0, max_norm / (norm + 1e-6)) : 1.0;
    // END SOLUTION
}
