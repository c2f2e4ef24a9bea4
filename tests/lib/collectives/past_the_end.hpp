// Wrong unless p divides n: zeroes chunks of ceil(n / p) elements, the last of which goes past the end.
#pragma once

#include <cstring>

#include "tests/lib/collectives/tree.hpp"

namespace collectives_test {

inline void past_the_end(Comm& comm, Buffer values)
{
    sum_on_rank_0(comm, values);
    if (comm.rank() != 0) {
        const std::int64_t chunk = (values.count + comm.size() - 1) / comm.size();
        for (int i = 0; i < comm.size(); ++i)
            std::memset(values.part(i * chunk, chunk).data, 0, values.part(i * chunk, chunk).bytes());
    }
    send_to_all(comm, values, 0, comm.size());
}

}  // namespace collectives_test
