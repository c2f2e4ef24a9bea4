// The simulated cluster in SimGrid's words.
#pragma once

#include <string>

#include "lib/machine/device/topology.hpp"

namespace shardlings {

/// A SimGrid platform file (XML) with hosts device-0 … device-(ranks-1), as fast as the topology's devices.
///
/// One node: every device has a link out and a link in, half of α each. Several: every device has one link to
/// the others of its node and one out of the node, as in `Topology`; what lies between nodes takes no time. A
/// node of d devices has d (d − 1) routes.
std::string simgrid_platform(const Topology& topology, int ranks);

/// The name of a rank's host.
std::string simgrid_host(int rank);

}  // namespace shardlings
