// 02.2 Clipping by the global norm (Pascanu, Mikolov and Bengio 2013).
#pragma once

#include <span>

#include "lib/machine/base/dtype.hpp"

namespace training {

using namespace shardlings;

/// Σ g², every square and the sum in fp64, in the order of the elements. Any floating-point dtype.
double sum_of_squares(ConstBuffer gradient);

/// sqrt of the sum of the segments' sums of squares, added in their order, so that every layout adds alike.
double global_norm(std::span<const double> sums_of_squares);

/// min(1, max_norm / (norm + 1e-6)); 1 when max_norm is 0: clipping is off.
double clip_factor(double norm, double max_norm);

}  // namespace training
