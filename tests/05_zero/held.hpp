// Values and summed gradients of buckets, made alike by the driver that runs the code and by the judge.
#pragma once

#include <limits>

#include "lessons/04_data_parallel/buckets.hpp"
#include "lib/machine/tensor/random.hpp"

namespace zero_test {

using namespace shardlings;

/// The whole bucket as it is initialised, its padding zero.
inline Tensor initial_values(Device& device, const data_parallel::Bucket& bucket, DType dtype,
                             std::uint64_t seed)
{
    Tensor values(device, {bucket.padded}, dtype, Category::workspace);
    values.fill_zero();
    for (const FlatEntry& entry : bucket.entries)
        initialise(*entry.parameter, seed, 0,
                   values.buffer().part(entry.offset, entry.parameter->elements()));
    return values;
}

/// Summed gradients of a step, and 7 in the padding, which no one may look at. Those at `overflow` are
/// infinite.
inline std::vector<double> step_gradients(const data_parallel::Bucket& bucket, std::uint64_t seed,
                                          std::int64_t step, const std::vector<double>& overflow)
{
    std::vector<double> all(static_cast<std::size_t>(bucket.padded), 7.0);
    for (const FlatEntry& entry : bucket.entries) {
        const RandomStream stream(seed, fmt::format("step {} of {}", step, entry.parameter->name));
        for (std::int64_t i = 0; i < entry.parameter->elements(); ++i)
            all[static_cast<std::size_t>(entry.offset + i)] = stream.normal(static_cast<std::uint64_t>(i));
    }
    for (const double place : overflow)
        all[static_cast<std::size_t>(place)] = std::numeric_limits<double>::infinity();
    return all;
}

}  // namespace zero_test
