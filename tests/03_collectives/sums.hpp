// Sums over ranks in a given order, every one rounded to the dtype: what the collectives must give, bit by
// bit.
#pragma once

#include "tests/03_collectives/run.hpp"

namespace collectives_test {

/// Elements `chunk` of a buffer of `values`.
Buffer part_of(std::vector<std::byte>& values, Chunk chunk, DType dtype);

/// Chunk c of n elements summed over the ranks c + 1, c + 2, …, c (mod p), as the ring does.
std::vector<std::byte> ring_sum(const RankValues& values, std::int64_t n, DType dtype);

}  // namespace collectives_test
