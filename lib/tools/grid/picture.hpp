// A grid on a cluster as a picture.
#pragma once

#include <string>

#include "lessons/09_3d/grid.hpp"
#include "lib/machine/device/topology.hpp"

namespace shardlings {

/// The text of an SVG file: a box for each node with its devices, coloured by pipeline stage, and a line for
/// each link between neighbours of a group, in the colour of its dimension; thick where it is between nodes.
std::string grid_picture(const grid::Grid& grid, const Topology& topology);

}  // namespace shardlings
