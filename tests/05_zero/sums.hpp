// Sums over ranks as the ring adds them, in one process.
#pragma once

#include <functional>

#include "lessons/04_data_parallel/buckets.hpp"

namespace zero_test {

using namespace shardlings;
using data_parallel::Bucket;

/// A whole bucket on each of several ranks -> its sum: shard c in the order of ranks c + 1, c + 2, …, c (mod
/// p), each sum rounded to the dtype, as ring_reduce_scatter promises.
Tensor ring_sum(const std::vector<Tensor>& of_ranks);

}  // namespace zero_test
