#include "lib/tools/grid/text.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "lib/machine/base/units.hpp"
#include "lib/tools/grid/links.hpp"

namespace shardlings {

namespace {

constexpr int devices_a_line = 8;
constexpr std::size_t members_shown = 8;

std::string counted(int number, const char* noun)
{
    return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string members(const std::vector<int>& group)
{
    const auto end = group.begin() + static_cast<std::ptrdiff_t>(std::min(group.size(), members_shown));
    return fmt::format("{}{}", fmt::join(group.begin(), end, " "),
                       group.size() > members_shown ? " ..." : "");
}

/// "rank: pp dp tp" of every rank.
std::vector<std::string> cells_of(const grid::Grid& grid)
{
    const std::size_t wide = std::to_string(grid.ranks() - 1).size();
    std::vector<std::string> cells;
    for (int rank = 0; rank < grid.ranks(); ++rank) {
        const grid::Coordinates at = grid::coordinates_of(rank, grid);
        cells.push_back(fmt::format("{:>{}}: {} {} {}", rank, wide, at.pp, at.dp, at.tp));
    }
    return cells;
}

std::string slowest_link(const LinkCount& count, const Topology& topology)
{
    if (count.intra + count.inter == 0) return "no messages";
    const Link& link = count.inter > 0 ? topology.inter : topology.intra;
    return fmt::format("{}, {:g} GB/s", format_seconds(link.latency), link.bandwidth / 1e9);
}

}  // namespace

std::string title_of_grid(const grid::Grid& grid, const Topology& topology)
{
    return fmt::format("pp {} x dp {} x tp {}: {} on {} of {}", grid.pp, grid.dp, grid.tp,
                       counted(grid.ranks(), "rank"), counted(topology.nodes, "node"),
                       counted(topology.devices_per_node, "device"));
}

std::string draw_devices(const grid::Grid& grid, const Topology& topology)
{
    const std::vector<std::string> cells = cells_of(grid);
    const std::size_t width = std::ranges::max(cells, {}, &std::string::size).size();
    const int nodes = topology.node_of(grid.ranks() - 1) + 1;
    std::string text;
    for (int node = 0; node < nodes; ++node)
        for (int first = 0; first < topology.devices_per_node; first += devices_a_line) {
            std::string line = first == 0 ? fmt::format("node {:<4}", node) : std::string(9, ' ');
            const int last = std::min(first + devices_a_line, topology.devices_per_node);
            for (int device = first; device < last; ++device) {
                const int rank = node * topology.devices_per_node + device;
                const bool used = rank < grid.ranks();
                line += fmt::format("  {:<{}}", used ? cells[static_cast<std::size_t>(rank)] : "-", width);
            }
            text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
        }
    return text;
}

std::string draw_groups(const grid::Grid& grid, const Topology& topology)
{
    std::string text =
        fmt::format("{:<10}{:>7}{:>6}{:>12}{:>18}{:>15}  {:<20} {}\n", "dimension", "groups", "size",
                    "in a node", "links in a node", "between nodes", "slowest: alpha, 1/beta", "first group");
    for (const GridDimension& dimension : dimensions_of(grid)) {
        const LinkCount count = count_links(dimension, topology);
        const int groups = static_cast<int>(dimension.groups.size());
        text += fmt::format("{:<10}{:>7}{:>6}{:>12}{:>18}{:>15}  {:<22} {}\n", dimension.name, groups,
                            dimension.degree, groups - count.groups_apart, count.intra, count.inter,
                            slowest_link(count, topology), members(dimension.groups.front()));
    }
    return text;
}

}  // namespace shardlings
