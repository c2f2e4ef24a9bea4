// Wrong: around the ring, and every rank receives before it sends.
#pragma once

#include "tests/lib/collectives/tree.hpp"

namespace collectives_test {

inline void deadlock(Comm& comm, Buffer values)
{
    const int p = comm.size();
    const Copy received(comm, values);
    for (int step = 1; step < p; ++step) {
        comm.recv(received.buffer, (comm.rank() + p - 1) % p);
        comm.send(values, (comm.rank() + 1) % p);
        add(received.buffer, values);
    }
}

}  // namespace collectives_test
