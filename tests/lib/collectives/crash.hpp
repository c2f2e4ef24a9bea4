// Wrong: rank 1 writes through a pointer to nothing.
#pragma once

#include "tests/lib/collectives/tree.hpp"

namespace collectives_test {

inline void crash(Comm& comm, Buffer values)
{
    sum_on_rank_0(comm, values);
    volatile int* nothing = nullptr;
    if (comm.rank() == 1) *nothing = 1;
    send_to_all(comm, values, 0, comm.size());
}

}  // namespace collectives_test
