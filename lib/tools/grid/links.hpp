// Which links of a cluster the groups of a grid use.
#pragma once

#include <utility>
#include <vector>

#include "lessons/09_3d/grid.hpp"
#include "lib/machine/device/topology.hpp"

namespace shardlings {

/// One of the three dimensions, with all its groups. The ranks of a group stand in the order of their
/// coordinate; its links join neighbours in this order, and a ring (data, tensor) its last rank to the first.
struct GridDimension {
    const char* name;  // "pipeline", "data", "tensor"
    int degree;        // ranks of a group
    bool ring;
    std::vector<std::vector<int>> groups;
};

/// Links of a dimension's groups.
struct LinkCount {
    int intra = 0;         // inside a node
    int inter = 0;         // between nodes
    int groups_apart = 0;  // groups with ranks on more than one node
};

/// Pipeline, data and tensor, in this order. Error when `grid` has a degree below 1.
std::vector<GridDimension> dimensions_of(const grid::Grid& grid);

/// The pairs of ranks that `group` has links between. A ring of two has one.
std::vector<std::pair<int, int>> links_of(const GridDimension& dimension, const std::vector<int>& group);

LinkCount count_links(const GridDimension& dimension, const Topology& topology);

/// Error when a degree is below 1, when there are more than `most_grid_ranks` ranks, or fewer devices than
/// ranks.
void check_fits(const grid::Grid& grid, const Topology& topology);

inline constexpr int most_grid_ranks = 4096;

}  // namespace shardlings
