// Wrong for p > 1: each rank's values go all around the ring, and are added when they are back home.
#pragma once

#include <cstring>
#include <utility>

#include "tests/lib/collectives/tree.hpp"

namespace collectives_test {

inline void one_step_too_many(Comm& comm, Buffer values)
{
    const int p = comm.size();
    Copy travelling(comm, values);
    Copy received(comm, values);
    std::memcpy(travelling.buffer.data, values.data, values.bytes());
    for (int step = 1; step <= p && p > 1; ++step) {
        comm.sendrecv(travelling.buffer, (comm.rank() + 1) % p, received.buffer, (comm.rank() + p - 1) % p);
        add(received.buffer, values);
        std::swap(travelling, received);
    }
}

}  // namespace collectives_test
