// Wrong in the last bits: every rank adds in an order of its own.
#pragma once

#include <vector>

#include "tests/lib/collectives/tree.hpp"

namespace collectives_test {

inline void other_order(Comm& comm, Buffer values)
{
    const int p = comm.size();
    std::vector<Copy> all;
    for (int step = 1; step < p; ++step) {
        const Copy& received = all.emplace_back(comm, values);
        comm.sendrecv(values, (comm.rank() + step) % p, received.buffer, (comm.rank() + p - step) % p);
    }
    for (const Copy& received : all) add(received.buffer, values);
}

}  // namespace collectives_test
