#include "lib/tools/grid/picture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "lib/tools/grid/links.hpp"
#include "lib/tools/grid/text.hpp"
#include "lib/tools/trace/svg.hpp"

namespace shardlings {

namespace {

// Pixels.
constexpr double margin = 16.0;
constexpr double label = 62.0;
constexpr double title_height = 28.0;
constexpr double cell_width = 84.0;
constexpr double cell_height = 38.0;
constexpr double gap = 12.0;      // between devices
constexpr double row_gap = 34.0;  // between rows of devices: room for the arcs
constexpr double legend_line = 20.0;
constexpr int devices_a_row = 8;

constexpr const char* style = R"(
text { font: 12px sans-serif; fill: #222 }
.title { font-weight: bold; font-size: 14px }
.small { font-size: 11px; fill: #444 }
.page { fill: #fff }
.node { fill: #f3f3f3; stroke: #bbb }
.free { fill: #fff; stroke: #bbb; stroke-dasharray: 3 3 }
.stage0 { fill: #cfe3f5 } .stage1 { fill: #d9efcf } .stage2 { fill: #fbe7c4 } .stage3 { fill: #ecd9f2 }
.link { fill: none; stroke-width: 1.2; opacity: 0.75 }
.between { stroke-width: 2.6 }
.pipeline { stroke: #b5432e } .data { stroke: #2b6cb0 } .tensor { stroke: #2f855a }
)";

struct Point {
    double x;
    double y;
};

/// Where devices stand.
class Places {
  public:
    Places(const grid::Grid& grid, const Topology& topology)
        : topology_(topology),
          columns_(std::min(topology.devices_per_node, devices_a_row)),
          rows_((topology.devices_per_node + devices_a_row - 1) / devices_a_row),
          nodes_(topology.node_of(grid.ranks() - 1) + 1)
    {
    }

    int nodes() const { return nodes_; }
    double width() const
    {
        return std::max(2.0 * margin + label + columns_ * (cell_width + gap) + gap, 520.0);
    }
    double bottom() const { return margin + title_height + nodes_ * (node_height() + gap); }

    Rectangle node(int number) const
    {
        return {margin + label, margin + title_height + number * (node_height() + gap),
                columns_ * (cell_width + gap) + gap, node_height()};
    }

    Rectangle device(int rank) const
    {
        const int at = rank % topology_.devices_per_node;
        const Rectangle box = node(topology_.node_of(rank));
        return {box.x + gap + at % devices_a_row * (cell_width + gap),
                box.y + row_gap - gap + at / devices_a_row * (cell_height + row_gap), cell_width,
                cell_height};
    }

  private:
    double node_height() const { return rows_ * (cell_height + row_gap) - gap + 12.0; }

    Topology topology_;
    int columns_;
    int rows_;
    int nodes_;
};

/// Tensor lines join the sides of devices, arcs of the data dimension go above them, lines of the pipeline
/// from the bottom of one to the top of the other.
std::string path_of(const char* dimension, const Rectangle& a, const Rectangle& b)
{
    const Point from{a.x + a.width / 2.0, a.y};
    const Point to{b.x + b.width / 2.0, b.y};
    const bool same_row = a.y == b.y;
    const std::string_view name = dimension;
    if (name == "tensor" && same_row && std::abs(to.x - from.x) < cell_width + 2.0 * gap)
        return fmt::format("M{} {}H{}", pixels(std::min(a.x, b.x) + a.width), pixels(a.y + a.height / 2.0),
                           pixels(std::max(a.x, b.x)));
    if (same_row) {
        const double height = name == "data" ? -gap - 16.0 : gap + 8.0;
        const double y = name == "data" ? a.y : a.y + a.height;
        return fmt::format("M{} {}Q{} {} {} {}", pixels(from.x), pixels(y), pixels((from.x + to.x) / 2.0),
                           pixels(y + height), pixels(to.x), pixels(y));
    }
    const double shift = name == "pipeline" ? 0.0 : name == "data" ? 14.0 : -14.0;
    const bool down = b.y > a.y;
    return fmt::format("M{} {}L{} {}", pixels(from.x + shift), pixels(down ? a.y + a.height : a.y),
                       pixels(to.x + shift), pixels(down ? b.y : b.y + b.height));
}

void draw_node(Canvas& canvas, const Places& places, const grid::Grid& grid, const Topology& topology,
               int node)
{
    const Rectangle box = places.node(node);
    canvas.rectangle(box, "node");
    canvas.text(margin, box.y + box.height / 2.0 + 4.0, fmt::format("node {}", node), "");
    for (int device = 0; device < topology.devices_per_node; ++device) {
        const int rank = node * topology.devices_per_node + device;
        const Rectangle cell = places.device(rank);
        if (rank >= grid.ranks()) {
            canvas.rectangle(cell, "free");
            continue;
        }
        const grid::Coordinates at = grid::coordinates_of(rank, grid);
        canvas.rectangle(cell, fmt::format("stage{}", at.pp % 4));
        const double middle = cell.x + cell.width / 2.0;
        canvas.text(middle, cell.y + 16.0, fmt::format("rank {}", rank), "", Anchor::middle);
        canvas.text(middle, cell.y + 31.0, fmt::format("{}, {}, {}", at.pp, at.dp, at.tp), "small",
                    Anchor::middle);
    }
}

void draw_legend(Canvas& canvas, double y, const GridDimension& dimension, const Topology& topology)
{
    const LinkCount count = count_links(dimension, topology);
    canvas.line(margin, y - 4.0, margin + label - 14.0, y - 4.0,
                fmt::format("link {}{}", dimension.name, count.inter > 0 ? " between" : ""));
    canvas.text(
        margin + label, y,
        fmt::format("{}: {} group{} of {}; links between neighbours: {} inside a node, {} between nodes",
                    dimension.name, dimension.groups.size(), dimension.groups.size() == 1 ? "" : "s",
                    dimension.degree, count.intra, count.inter),
        "");
}

}  // namespace

std::string grid_picture(const grid::Grid& grid, const Topology& topology)
{
    const Places places(grid, topology);
    const std::string title = title_of_grid(grid, topology);
    Canvas canvas(title, style);
    canvas.text(margin, margin + 12.0, title + "; in a device: its rank, and pp, dp, tp", "title");
    for (int node = 0; node < places.nodes(); ++node) draw_node(canvas, places, grid, topology, node);
    double y = places.bottom() + 14.0;
    for (const GridDimension& dimension : dimensions_of(grid)) {
        for (const std::vector<int>& group : dimension.groups)
            for (const auto& [a, b] : links_of(dimension, group)) {
                const bool between = topology.node_of(a) != topology.node_of(b);
                canvas.path(path_of(dimension.name, places.device(a), places.device(b)),
                            fmt::format("link {}{}", dimension.name, between ? " between" : ""));
            }
        draw_legend(canvas, y, dimension, topology);
        y += legend_line;
    }
    return canvas.finish(places.width(), y);
}

}  // namespace shardlings
