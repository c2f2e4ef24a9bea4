// Ranks of one job, simulated in this process.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/machine/device/topology.hpp"

namespace shardlings {

/// Runs `body` on `ranks` ranks, each a thread of control of its own with its own MPI rank, one at a time, on
/// a simulated cluster; `settings` are SimGrid's, as in "network/model:CM02". Returns the largest of their
/// exit codes. Once in a process.
int simulate_ranks(int ranks, const Topology& topology, const std::vector<std::string>& settings,
                   const std::function<int()>& body);

}  // namespace shardlings
