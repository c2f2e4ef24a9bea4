// 00.2 to 00.4 Messages: ping-pong, a ring, and the link's α and β read off the virtual clock.
#pragma once

#include "lib/machine/comm/comm.hpp"

namespace devices {

using namespace shardlings;

/// 00.2 Rank 0 of `comm` sends `message` to rank 1, which sends it back, `rounds` (>= 1) times; other ranks
/// do nothing. Every rank calls it with a buffer of the same b bytes; there are at least two ranks. Returns
/// the virtual seconds of one round, 2 (α + b β), on ranks 0 and 1, and 0 on the others. On rank 0 the
/// message comes back as it was; on rank 1 the buffer holds it afterwards.
double ping_pong(Comm& comm, std::span<std::byte> message, int rounds);

/// α in seconds and β in seconds per byte.
struct LinkCost {
    double alpha;
    double beta;
};

/// 00.3 The cost of a message between ranks 0 and 1 of `comm`, from two ping-pongs of different lengths.
/// Ranks 0 and 1 return it, the others zeros. The messages lie on the device, as communication buffers, and
/// are freed.
LinkCost measure_link(Comm& comm);

/// 00.4 The sum of every rank's `value`, on every rank, for any number p of ranks in `comm`: p − 1 times,
/// every rank sends one number to its right neighbour (rank + 1, and from the last to rank 0) and adds what
/// arrives from the left. Takes (p − 1) (α + 8 β) of virtual time. Ranks add in different orders, so their
/// sums may differ in the last bits.
double sum_around_the_ring(Comm& comm, double value);

}  // namespace devices
