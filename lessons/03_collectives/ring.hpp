// 03.1 to 03.3 Ring collectives (Patarasuk and Yuan 2009): every rank sends to its right neighbour only.
//
// All work in place on `values`, n elements of one floating-point dtype, the same n and dtype on every rank
// of `comm`; every rank of it must call. Any p >= 1 and any n >= 0, divisible or not. Adding needs memory of
// the category communication for at most one chunk, freed at the end; all-gather needs none.
#pragma once

#include <cstdint>

#include "lib/machine/comm/comm.hpp"

namespace collectives {

using namespace shardlings;

/// Elements [offset, offset + count).
struct Chunk {
    std::int64_t offset;
    std::int64_t count;
    bool operator==(const Chunk&) const = default;
};

/// Chunk `index` of n elements cut into `parts` runs that partition them in order. The first n mod parts
/// chunks have one element more than the others, n / parts + 1. Error for parts < 1, index outside [0,
/// parts).
Chunk chunk_of(std::int64_t n, int parts, int index);

/// partial sums -> chunk r of `values` on rank r is the sum over all ranks; the other chunks are left with
/// sums of some ranks. p − 1 messages a rank. Chunk c is added in the order of ranks c + 1, c + 2, …, c (mod
/// p), each sum rounded to the dtype: bitwise the same on every run. Virtual time (p − 1)(α + β n/p) when p
/// divides n.
void ring_reduce_scatter(Comm& comm, Buffer values);

/// chunk r of `values` on rank r -> all chunks on every rank. p − 1 messages a rank, time as above.
void ring_all_gather(Comm& comm, Buffer values);

/// partial sums -> their sum, bitwise the same on every rank: reduce-scatter, then all-gather. 2(p − 1)
/// messages a rank and 2(p − 1) n elements over all ranks, which no all-reduce can go below.
void ring_all_reduce(Comm& comm, Buffer values);

}  // namespace collectives
