// A grid on a cluster, in words and numbers.
#pragma once

#include <string>

#include "lessons/09_3d/grid.hpp"
#include "lib/machine/device/topology.hpp"

namespace shardlings {

/// "pp 4 x dp 2 x tp 4: 32 ranks on 4 nodes of 8 devices".
std::string title_of_grid(const grid::Grid& grid, const Topology& topology);

/// A table, node by device, of "rank: pp dp tp"; "-" is a device that has no rank, and nodes without any are
/// left out. More than eight devices of a node go on in further lines.
std::string draw_devices(const grid::Grid& grid, const Topology& topology);

/// A line for each dimension: its groups, the links between neighbours inside and between nodes, and α and
/// 1/β of the slowest of them.
std::string draw_groups(const grid::Grid& grid, const Topology& topology);

}  // namespace shardlings
