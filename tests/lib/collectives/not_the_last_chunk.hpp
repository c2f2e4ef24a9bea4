// Wrong for p > 1: around the ring in p − 2 steps; every rank lacks the chunk of the one to its right.
#pragma once

#include "tests/lib/collectives/scatter.hpp"

namespace collectives_test {

/// all-gather
inline void not_the_last_chunk(Comm& comm, Buffer values)
{
    const int p = comm.size();
    const auto part = [&](int c) { return chunk_of(values, p, (c + p) % p); };
    for (int step = 0; step < p - 2; ++step)
        comm.sendrecv(part(comm.rank() - step), (comm.rank() + 1) % p, part(comm.rank() - step - 1),
                      (comm.rank() + p - 1) % p);
}

}  // namespace collectives_test
