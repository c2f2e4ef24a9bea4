// Holds what a driver's probes wrote about stage 2's gradients to what must have been there.
#pragma once

#include "tests/05_zero/gradients_expected.hpp"

namespace zero_test {

NamedCase gradients_case(const GradientsCase& one);

/// A message when a rank holds another part of a bucket's sum than its shard, or other sums: which ranks' and
/// micro-batches' gradients they hold, where the digits tell.
std::string compare_sum(const GradientsCase& one, const Geometry& geometry, std::size_t bucket, int rank,
                        std::int64_t step, const std::vector<double>& part, const std::vector<double>& got);

}  // namespace zero_test
