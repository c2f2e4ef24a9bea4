// A reduce-scatter by way of the whole sum, with the choice of the chunk that a rank keeps left open.
#pragma once

#include <algorithm>
#include <cstring>

#include "tests/lib/collectives/tree.hpp"

namespace collectives_test {

/// Chunk c of p: the first n mod p have one element more.
inline Buffer chunk_of(Buffer values, int p, int c)
{
    const std::int64_t longer = values.count % p;
    return values.part(c * (values.count / p) + std::min<std::int64_t>(c, longer),
                       values.count / p + (c < longer ? 1 : 0));
}

/// partial sums -> their sum in chunk `kept`.
inline void sum_into_chunk(Comm& comm, Buffer values, int kept)
{
    Copy all(comm, values);
    std::memcpy(all.buffer.data, values.data, values.bytes());
    sum_on_rank_0(comm, all.buffer);
    send_to_all(comm, all.buffer, 0, comm.size());
    const Buffer own = chunk_of(values, comm.size(), kept);
    std::memcpy(own.data, chunk_of(all.buffer, comm.size(), kept).data, own.bytes());
}

}  // namespace collectives_test
