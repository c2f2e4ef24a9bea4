// All-reduce as lesson 03 builds it beside MPI's own.
#pragma once

#include <array>

#include "lib/machine/comm/session.hpp"

namespace shardlings {

/// The rank counts it is measured on, one job after the other.
inline constexpr std::array bench_collectives_ranks{2, 4, 8};

/// Sums of fp32 values in place on all ranks of the job, by collectives::all_reduce's choice up to 256 KiB
/// and by the ring from 1 MiB to 64 MiB, and by MPI_Allreduce; rank 0 prints a table.
///
/// Method: both work on the same memory in the same processes, which were started with the project's flags.
/// In each of `rounds` rounds ours and MPI's are measured one after the other, in turns first, each as a run
/// of calls that takes about 20 ms or a single one that takes longer, between two barriers, and the slowest
/// rank counts. The table has the shortest round of each, because what disturbs a round on a busy machine
/// only makes it longer, the median over the rounds of each, and the two ratios ours / MPI's: below 1 ours is
/// faster.
void bench_collectives(MpiSession& session, int rounds);

}  // namespace shardlings
