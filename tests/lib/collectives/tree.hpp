// What several of the wrong collectives begin or end with, right.
#pragma once

#include "lib/machine/comm/comm.hpp"
#include "lib/machine/tensor/arithmetic.hpp"

namespace collectives_test {

using namespace shardlings;

/// Memory for `values` and a buffer over it.
struct Copy {
    Allocation memory;
    Buffer buffer;

    Copy(Comm& comm, ConstBuffer values)
        : memory(comm.device().allocate(values.bytes(), Category::communication)),
          buffer{memory.data(), values.count, values.dtype}
    {
    }
};

/// Rank 0: values += those of all others.
inline void sum_on_rank_0(Comm& comm, Buffer values)
{
    if (comm.rank() != 0) return comm.send(values, 0);
    const Copy received(comm, values);
    for (int from = 1; from < comm.size(); ++from) {
        comm.recv(received.buffer, from);
        add(received.buffer, values);
    }
}

/// The values of `root` -> on ranks 0, …, p − 1 but for those from `end` on.
inline void send_to_all(Comm& comm, Buffer values, int root, int end)
{
    if (comm.rank() == root) {
        for (int to = 0; to < end; ++to)
            if (to != root) comm.send(values, to);
    } else if (comm.rank() < end) {
        comm.recv(values, root);
    }
}

}  // namespace collectives_test
