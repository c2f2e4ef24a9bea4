// Wrong for p > 1: rank r ends with chunk r + 1, as a ring begun one place off leaves it.
#pragma once

#include "tests/lib/collectives/scatter.hpp"

namespace collectives_test {

/// reduce-scatter
inline void own_chunk_elsewhere(Comm& comm, Buffer values)
{
    sum_into_chunk(comm, values, (comm.rank() + 1) % comm.size());
}

}  // namespace collectives_test
