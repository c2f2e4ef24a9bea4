// 00.2 to 00.4 Messages: ping-pong, a ring, and the link's α and β read off the virtual clock.
#pragma once

#include "lib/machine/comm/comm.hpp"

namespace devices {

using namespace shardlings;

/// 00.2 Rank 0 sends `message` to rank 1, which sends it back, `rounds` times; other ranks do nothing.
/// Returns the virtual seconds of one round, 2 (α + b β) for b bytes, on ranks 0 and 1, and 0 on the others.
/// On rank 0 the message comes back as it was; on rank 1 the buffer holds it afterwards.
double ping_pong(Comm& comm, std::span<std::byte> message, int rounds);

/// α in seconds and β in seconds per byte.
struct LinkCost {
    double alpha;
    double beta;
};

/// 00.3 The cost of a message between ranks 0 and 1, from two ping-pongs of different lengths. Ranks 0 and 1
/// return it, the others zeros.
LinkCost measure_link(Comm& comm);

/// 00.4 Every rank passes `value` on to its right neighbour, p − 1 times, adding what arrives: the sum over
/// all ranks, on every rank, for any number of ranks. Takes (p − 1) (α + 8 β) of virtual time.
double sum_around_the_ring(Comm& comm, double value);

}  // namespace devices
