// Wrong: the last rank is never sent the sum.
#pragma once

#include <algorithm>

#include "tests/lib/collectives/tree.hpp"

namespace collectives_test {

inline void lost_on_one_rank(Comm& comm, Buffer values)
{
    sum_on_rank_0(comm, values);
    send_to_all(comm, values, 0, std::max(1, comm.size() - 1));
}

}  // namespace collectives_test
