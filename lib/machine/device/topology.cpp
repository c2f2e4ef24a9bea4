#include "lib/machine/device/topology.hpp"

#include <charconv>

#include "lib/machine/base/error.hpp"

namespace shardlings {

Topology parse_topology(std::string_view text)
{
    Topology topology;
    const char* end = text.data() + text.size();
    const auto nodes = std::from_chars(text.data(), end, topology.nodes);
    const bool has_x = nodes.ec == std::errc{} && nodes.ptr != end && *nodes.ptr == 'x';
    const auto devices = has_x ? std::from_chars(nodes.ptr + 1, end, topology.devices_per_node) : nodes;
    check(has_x && devices.ec == std::errc{} && devices.ptr == end && topology.nodes >= 1 &&
              topology.devices_per_node >= 1 && topology.nodes <= 65536 && topology.devices_per_node <= 65536,
          "'{}' is not a topology: expected NODESxDEVICES, as in 4x8 for 4 nodes of 8 devices", text);
    return topology;
}

}  // namespace shardlings
