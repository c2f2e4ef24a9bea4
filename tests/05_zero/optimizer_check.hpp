// Stage 1's optimizer on given gradients, held to lesson 04's on whole buckets.
#pragma once

#include <map>

#include "tests/05_zero/setup.hpp"

namespace zero_test {

struct OptimizerCase {
    Setup setup;
    bool whole = true;  // values: all of every bucket is held, else the own shard
    double max_norm = 0.5;
    double scale = 0.0;  // 0: without a loss scale
    std::int64_t steps = 3;
    std::int64_t first_step = 0;  // the step count that a checkpoint brought
    /// (step, bucket) -> elements whose gradient is infinite
    std::map<std::pair<std::int64_t, std::size_t>, std::vector<double>> overflow = {};

    std::string name() const;
};

NamedCase optimizer_case(const OptimizerCase& one);

}  // namespace zero_test
