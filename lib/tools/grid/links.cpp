#include "lib/tools/grid/links.hpp"

#include "lib/machine/base/error.hpp"

namespace shardlings {

namespace {

/// Groups along the coordinate `along`, each named by its rank that has 0 there.
std::vector<std::vector<int>> groups_along(const grid::Grid& grid, int grid::Coordinates::*along, int degree)
{
    std::vector<std::vector<int>> groups;
    for (int rank = 0; rank < grid.ranks(); ++rank) {
        grid::Coordinates at = grid::coordinates_of(rank, grid);
        if (at.*along != 0) continue;
        std::vector<int>& group = groups.emplace_back();
        for (at.*along = 0; at.*along < degree; ++(at.*along)) group.push_back(grid::rank_of(at, grid));
    }
    return groups;
}

void check_degrees(const grid::Grid& grid)
{
    for (const auto& [name, degree] : {std::pair{"pp", grid.pp}, {"dp", grid.dp}, {"tp", grid.tp}})
        check(degree >= 1, "--{} is {}: expected 1 or more", name, degree);
}

}  // namespace

std::vector<GridDimension> dimensions_of(const grid::Grid& grid)
{
    check_degrees(grid);
    return {{"pipeline", grid.pp, false, groups_along(grid, &grid::Coordinates::pp, grid.pp)},
            {"data", grid.dp, true, groups_along(grid, &grid::Coordinates::dp, grid.dp)},
            {"tensor", grid.tp, true, groups_along(grid, &grid::Coordinates::tp, grid.tp)}};
}

std::vector<std::pair<int, int>> links_of(const GridDimension& dimension, const std::vector<int>& group)
{
    std::vector<std::pair<int, int>> links;
    for (std::size_t i = 1; i < group.size(); ++i) links.emplace_back(group[i - 1], group[i]);
    if (dimension.ring && group.size() > 2) links.emplace_back(group.back(), group.front());
    return links;
}

LinkCount count_links(const GridDimension& dimension, const Topology& topology)
{
    LinkCount count;
    for (const std::vector<int>& group : dimension.groups) {
        bool apart = false;
        for (const auto& [a, b] : links_of(dimension, group)) {
            const bool inter = topology.node_of(a) != topology.node_of(b);
            ++(inter ? count.inter : count.intra);
            apart = apart || inter;
        }
        count.groups_apart += apart ? 1 : 0;
    }
    return count;
}

void check_fits(const grid::Grid& grid, const Topology& topology)
{
    check_degrees(grid);
    const double ranks = static_cast<double>(grid.pp) * grid.dp * grid.tp;
    check(ranks <= most_grid_ranks, "pp {} x dp {} x tp {} are {:.0f} ranks: expected up to {}", grid.pp,
          grid.dp, grid.tp, ranks, most_grid_ranks);
    check(
        topology.nodes >= 1 && topology.devices_per_node >= 1 &&
            static_cast<double>(topology.nodes) * topology.devices_per_node >= ranks,
        "pp {} x dp {} x tp {} are {} ranks, and {} x {} only {:.0f} devices: choose smaller degrees or more "
        "nodes",
        grid.pp, grid.dp, grid.tp, grid.ranks(), topology.nodes, topology.devices_per_node,
        static_cast<double>(topology.nodes) * topology.devices_per_node);
}

}  // namespace shardlings
