// Holds what a driver's probes wrote about stage 3's values to what must have been there.
#pragma once

#include "tests/05_zero/setup.hpp"

namespace zero_test {

struct ValuesCase {
    Setup setup;
    std::string actions = "train change train";  // see driver_values.hpp
    bool broadcast = false;
};

NamedCase values_case(const ValuesCase& one);

/// A message when a pass had other values of a parameter than `factor` times its first ones, or none.
std::string compare_parameter(const Setup& setup, const Geometry& geometry, std::size_t bucket,
                              const FlatEntry& entry, double factor, const std::vector<double>& got);

/// And when a rank holds another part of a bucket than its shard, or other values. `part`: offset and count.
std::string compare_shard(const Setup& setup, const Geometry& geometry, std::size_t bucket, int rank,
                          double factor, const std::vector<double>& part, const std::vector<double>& got);

}  // namespace zero_test
