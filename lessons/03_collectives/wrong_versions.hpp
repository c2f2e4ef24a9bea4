// Two plausible ring all-reduces that are wrong, for `make verify-collective` to judge. They are not inlined,
// so that its report of a hang names their lines.
#pragma once

#include "lessons/03_collectives/ring.hpp"

namespace collectives {

/// The all-gather half sends, then receives.
[[gnu::noinline]] inline void sends_first(Comm& comm, Buffer values)
{
    const int p = comm.size();
    const int r = comm.rank();
    ring_reduce_scatter(comm, values);
    for (int step = 0; step < p - 1; ++step) {
        const Chunk out = chunk_of(values.count, p, (r - step + p) % p);
        const Chunk in = chunk_of(values.count, p, (r - 1 - step + p) % p);
        // BEGIN send_and_recv
        comm.send(values.part(out.offset, out.count), (r + 1) % p);
        comm.recv(values.part(in.offset, in.count), (r - 1 + p) % p);
        // END send_and_recv
    }
}

/// The all-gather half begins with chunk r + 1, as if that one were complete on rank r.
[[gnu::noinline]] inline void off_by_one(Comm& comm, Buffer values)
{
    const int p = comm.size();
    const int r = comm.rank();
    ring_reduce_scatter(comm, values);
    for (int step = 0; step < p - 1; ++step) {
        // BEGIN one_off
        const Chunk out = chunk_of(values.count, p, (r + 1 - step + p) % p);
        const Chunk in = chunk_of(values.count, p, (r - step + p) % p);
        // END one_off
        comm.sendrecv(values.part(out.offset, out.count), (r + 1) % p, values.part(in.offset, in.count),
                      (r - 1 + p) % p);
    }
}

}  // namespace collectives
