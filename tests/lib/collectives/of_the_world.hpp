// Wrong on a group of ranks that is not the world: a rank's chunk is that of its number in the world.
#pragma once

#include "tests/lib/collectives/scatter.hpp"

namespace collectives_test {

/// reduce-scatter
inline void of_the_world(Comm& comm, Buffer values)
{
    sum_into_chunk(comm, values, comm.device().rank() % comm.size());
}

}  // namespace collectives_test
