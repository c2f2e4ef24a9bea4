// Which ranks share a machine.
#pragma once

#include "lib/machine/comm/session.hpp"
#include "lib/machine/device/topology.hpp"

namespace shardlings {

/// The machines that the ranks of this job really run on.
struct Hosts {
    int number = 1;
    int ranks_per_host = 1;
    bool regular = true;  // each has equally many ranks (the last perhaps fewer), with consecutive numbers
};

/// Every rank must call it. Simulated ranks all share one.
Hosts find_hosts(const MpiSession& session);

/// `topology` with the hosts as its nodes where there are several and they are regular; else unchanged.
Topology with_hosts(Topology topology, const Hosts& hosts);

}  // namespace shardlings
