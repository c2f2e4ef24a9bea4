// What the ranks of a group hold at first, made alike by the driver that runs the code and by the judge.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "lib/machine/base/dtype.hpp"
#include "lib/machine/tensor/random.hpp"
#include "lib/machine/tensor/tensor.hpp"

namespace collectives_test {

using namespace shardlings;

/// Numbers in [−1, 1), of which sums in another order differ in the last bits; or, when there is a base,
/// base^rank (i + 1) for element i, so that the digits of a sum say whose values it holds and how often.
struct Pattern {
    double base = 0.0;  // 0: random
    std::uint64_t seed = 0;
};

/// Random numbers repeat after so many elements: making them is slow, and no chunk is that long by chance.
inline constexpr std::uint64_t random_period = 4093;

/// Element i of rank `member`, before it is rounded to the dtype.
inline std::vector<double> pattern_values(const Pattern& pattern, int member, std::int64_t n)
{
    std::vector<double> values(static_cast<std::size_t>(n));
    if (pattern.base > 0.0) {
        const double digit = std::pow(pattern.base, member);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = digit * static_cast<double>(i + 1);
        return values;
    }
    const RandomStream stream(pattern.seed, "rank " + std::to_string(member));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = i < random_period ? 2.0 * stream.uniform(i) - 1.0 : values[i - random_period];
    return values;
}

/// Fills `values` with the pattern of rank `member`, rounded to their dtype.
inline void fill(const Pattern& pattern, int member, Buffer values)
{
    std::vector<double> exact = pattern_values(pattern, member, values.count);
    convert(ConstBuffer{reinterpret_cast<const std::byte*>(exact.data()), values.count, DType::fp64}, values);
}

}  // namespace collectives_test
