// 03.4 Broadcasts: `values` of rank `root` -> on every rank, bitwise. n elements of any dtype, any p >= 1,
// any root; in place, without further memory. Over all ranks (p − 1) n elements are sent, the least there is.
// Error for a root outside [0, p).
#pragma once

#include <cstdint>

#include "lib/machine/comm/comm.hpp"

namespace collectives {

using namespace shardlings;

/// Binomial tree: in round k = 0, 1, … the 2^k ranks that have the values send them on, so ceil(log2 p)
/// rounds. Every rank but the root receives one message. The rank at distance d from the root (mod p)
/// receives from the rank at distance d without its highest bit. Virtual time of the last rank: at most
/// ceil(log2 p)(α + β n), and exactly that when p is a power of two.
void tree_broadcast(Comm& comm, Buffer values, int root);

/// Pipelined chain root -> root + 1 -> … (mod p): the values go in `segments` runs (chunk_of), and a rank
/// passes on each as soon as it has it, while the next arrives. (p − 2 + segments)(α + β n/segments) when
/// segments divides n and p >= 2. Error for segments < 1.
void chain_broadcast(Comm& comm, Buffer values, int root, int segments);

/// The number of segments that makes the chain fastest: the real number sqrt((p − 2) β n / α), β n the
/// seconds of `bytes`, lies between two whole ones: the one with the smaller time (the smaller one of
/// equals). At least 1. Error for a link without latency, where more segments are always faster.
int best_segments(const Link& link, int ranks, double bytes);

}  // namespace collectives
