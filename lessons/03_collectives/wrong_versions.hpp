// Two plausible ring all-reduces that are wrong, for `make verify-collective` to judge.
#pragma once

#include "lessons/03_collectives/ring.hpp"

namespace collectives {

/// The all-gather half sends, then receives.
inline void sends_first(Comm& comm, Buffer values)
{
    const int p = comm.size();
    const int r = comm.rank();
    ring_reduce_scatter(comm, values);
    for (int step = 0; step < p - 1; ++step) {
        const Chunk out = chunk_of(values.count, p, (r - step + p) % p);
        const Chunk in = chunk_of(values.count, p, (r - 1 - step + p) % p);
        comm.send(values.part(out.offset, out.count), (r + 1) % p);
        comm.recv(values.part(in.offset, in.count), (r - 1 + p) % p);
    }
}

/// The all-gather half begins with chunk r + 1, as if that one were complete on rank r.
inline void off_by_one(Comm& comm, Buffer values)
{
    const int p = comm.size();
    const int r = comm.rank();
    ring_reduce_scatter(comm, values);
    for (int step = 0; step < p - 1; ++step) {
        const Chunk out = chunk_of(values.count, p, (r + 1 - step + p) % p);
        const Chunk in = chunk_of(values.count, p, (r - step + p) % p);
        comm.sendrecv(values.part(out.offset, out.count), (r + 1) % p, values.part(in.offset, in.count),
                      (r - 1 + p) % p);
    }
}

}  // namespace collectives
