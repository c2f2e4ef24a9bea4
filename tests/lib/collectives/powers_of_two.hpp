// Wrong unless p is a power of two: recursive doubling that leaves out partners that do not exist.
#pragma once

#include "tests/lib/collectives/tree.hpp"

namespace collectives_test {

inline void powers_of_two(Comm& comm, Buffer values)
{
    const Copy received(comm, values);
    for (int distance = 1; distance < comm.size(); distance *= 2) {
        const int partner = comm.rank() ^ distance;
        if (partner >= comm.size()) continue;
        comm.sendrecv(values, partner, received.buffer, partner);
        add(received.buffer, values);
    }
}

}  // namespace collectives_test
