// What metering and the virtual clock cost a message.
#pragma once

#include "lib/machine/comm/session.hpp"

namespace shardlings {

/// Ping-pong between ranks 0 and 1, through Comm and through plain MPI, for lengths from 8 B to 4 MiB; rank 0
/// prints both and their ratio. Needs 2 ranks.
///
/// Method: the two take turns, `rounds` times; in each turn enough messages to take about 10 ms. The ratio is
/// that of the shortest turns, because what disturbs a turn on a busy machine only makes it longer.
void bench_messages(MpiSession& session, int rounds);

}  // namespace shardlings
