// Cases of lesson 02 with a name each, run together, and comparisons with a bound for every element.
#pragma once

#include <functional>

#include "lib/tools/grade/judge.hpp"
#include "tests/lib/catch.hpp"

namespace training_test {

using namespace grade;

struct NamedCase {
    std::string name;  // "fp16, step 3": how a message calls the case
    CaseInput input;
    /// The messages about what came out, empty ones included; called when the case returned.
    std::function<std::vector<std::string>(const RankResult&)> check;
};

/// Runs the cases on the driver of `file` and fails with one message for the first few that are wrong.
void run_and_check(const std::string& file, const std::vector<NamedCase>& cases);

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
