// Comparisons of lesson 02: with a bound for every element, and of memory.
#pragma once

#include "tests/lib/run_and_check.hpp"

namespace training_test {

using namespace grade;

inline const std::vector<DType> all_dtypes{DType::fp64, DType::fp32, DType::bf16, DType::fp16};

/// Half the distance between 1 and the next number: the relative error of one rounding.
inline double unit_roundoff(DType dtype)
{
    return epsilon_of(dtype) / 2.0;
}

/// compare() in which element i may be off by bounds[i].
std::string compare_within(const std::string& name, const json& got, const json& expected,
                           const std::vector<double>& bounds);

/// `values` as they are after rounding to `dtype`.
std::vector<double> rounded(const std::vector<double>& values, DType dtype);

/// Whole numbers in [0, limit), reproducible from the seed and the name.
std::vector<std::int32_t> random_ids(const std::string& name, std::int64_t count, std::int32_t limit);

/// Bytes of a category in use when measuring ended.
std::uint64_t bytes_of(const RankResult& result, Category category);

/// A message when memory is left over that was not there before, or more than `allowed` bytes on top of that
/// were in use meanwhile.
std::string check_memory(const RankResult& result, std::uint64_t left, std::uint64_t allowed);

}  // namespace training_test
