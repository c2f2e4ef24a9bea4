// All-reduce as lesson 03 builds it beside MPI's own, in wall-clock time.
#pragma once

#include "lib/machine/comm/session.hpp"

namespace shardlings {

/// Sums of fp32 values in place on 2, 4 and 8 ranks, from 8 B to 256 KiB by collectives::all_reduce and from
/// 1 MiB to 64 MiB by collectives::ring_all_reduce, beside MPI_Allreduce: the shortest and the median time of
/// both, and the ratios ours / MPI's. Below 1 ours is faster.
///
/// Method: in each of `rounds` rounds a launch for every number of ranks, because what two processes happen
/// to share (a core, a cache) lasts as long as they do. In a launch both work on the same memory in the same
/// processes, with the project's flags of mpirun; for every length they take turns, each a run of calls from
/// a barrier on, and the slowest rank counts. The shortest time is the best of all turns, because what
/// disturbs a turn on a busy machine only makes it longer; the ratio of the medians says what is usual.
void bench_collectives(int rounds);

/// One of those launches: every rank of it calls this; rank 0 prints what every turn took.
void measure_collectives(MpiSession& session);

}  // namespace shardlings
