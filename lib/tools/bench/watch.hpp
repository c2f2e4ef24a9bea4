// What being watched costs a message.
#pragma once

#include "lib/machine/comm/session.hpp"

namespace shardlings {

/// Two ranks send messages of several lengths to and fro by MPI's own calls, in launches with and without the
/// watching library (checksums off) that take turns. Prints the shortest times and their ratios. Error when a
/// launch fails.
void bench_watch(int rounds);

/// One of these launches: rank 0 prints seconds per round trip, a line for each length.
void measure_watched_messages(MpiSession& session);

}  // namespace shardlings
