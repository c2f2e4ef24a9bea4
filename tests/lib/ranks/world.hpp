// A device and a world of ranks for the programs that the library's tests start.
#pragma once

#include "lib/machine/base/error.hpp"
#include "lib/machine/comm/comm.hpp"
#include "lib/machine/comm/session.hpp"

namespace ranks_test {

using namespace shardlings;

inline DeviceOptions options_of(const MpiSession& session, int devices_per_node)
{
    DeviceOptions options;
    options.rank = session.rank();
    options.topology.devices_per_node = devices_per_node;
    options.topology.nodes = (session.size() + devices_per_node - 1) / devices_per_node;
    return options;
}

/// A device of this rank and the group of all, on one node or on nodes of `devices_per_node`.
struct World {
    Device device;
    Comm comm;

    explicit World(const MpiSession& session) : World(session, session.size()) {}
    World(const MpiSession& session, int devices_per_node)
        : device(options_of(session, devices_per_node)), comm(Comm::world(device))
    {
    }
    const Topology& topology() const { return device.topology(); }
    double now() const { return device.clock().now(); }
};

}  // namespace ranks_test
