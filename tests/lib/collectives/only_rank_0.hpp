// Wrong unless the root is rank 0.
#pragma once

#include "tests/lib/collectives/tree.hpp"

namespace collectives_test {

/// broadcast
inline void only_rank_0(Comm& comm, Buffer values, int)
{
    send_to_all(comm, values, 0, comm.size());
}

}  // namespace collectives_test
