#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "lib/machine/base/error.hpp"
#include "lib/tools/cli/commands.hpp"
#include "lib/tools/grid/links.hpp"
#include "lib/tools/grid/picture.hpp"
#include "lib/tools/grid/text.hpp"
#include "lib/tools/train/file.hpp"

namespace shardlings {

namespace {

struct GridFlags {
    grid::Grid grid;
    std::string topology;
    std::string svg;
};

void run_grid(const GridFlags& flags)
{
    Topology topology;
    if (!flags.topology.empty()) topology = parse_topology(flags.topology);
    check(flags.svg.empty() || flags.svg.ends_with(".svg"),
          "--svg {}: expected a file name that ends in .svg", flags.svg);
    if (flags.topology.empty()) topology.devices_per_node = most_grid_ranks;
    check_fits(flags.grid, topology);
    if (flags.topology.empty()) topology.devices_per_node = flags.grid.ranks();
    if (!flags.svg.empty()) write_text(flags.svg, grid_picture(flags.grid, topology));
    fmt::print("{}\n\n{}\n{}", title_of_grid(flags.grid, topology), draw_devices(flags.grid, topology),
               draw_groups(flags.grid, topology));
}

}  // namespace

void add_grid_command(CLI::App& app)
{
    auto flags = std::make_shared<GridFlags>();
    CLI::App* command = app.add_subcommand("grid", "who sits where, and which links each group uses");
    command->add_option("--pp", flags->grid.pp, "pipeline stages")->capture_default_str();
    command->add_option("--dp", flags->grid.dp, "data-parallel degree")->capture_default_str();
    command->add_option("--tp", flags->grid.tp, "tensor-parallel degree")->capture_default_str();
    command->add_option("--topology", flags->topology,
                        "NODESxDEVICES of the cluster, as in 4x8 (default: one node of all ranks)");
    command->add_option("--svg", flags->svg, "file for a picture");
    command->callback([flags] { run_grid(*flags); });
}

}  // namespace shardlings
