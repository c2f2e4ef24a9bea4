#include <CLI/CLI.hpp>
#include <memory>

#include "lib/machine/base/error.hpp"
#include "lib/tools/cli/commands.hpp"
#include "lib/tools/simgrid/platform.hpp"

namespace shardlings {

void add_platform_command(CLI::App& app)
{
    struct Flags {
        std::string topology = "1x8";
        double flops = Topology{}.flops;
    };
    auto flags = std::make_shared<Flags>();
    CLI::App* command =
        app.add_subcommand("platform", "print the simulated cluster as a platform file for SimGrid");
    command->add_option("--topology", flags->topology, "NODESxDEVICES of the cluster, as in 4x8")
        ->capture_default_str();
    command->add_option("--device-flops", flags->flops, "FLOP/s of a device")->capture_default_str();
    command->callback([flags] {
        Topology topology = parse_topology(flags->topology);
        check(flags->flops > 0.0 && flags->flops <= 1e24, "--device-flops is {}: expected up to 1e24",
              flags->flops);
        topology.flops = flags->flops;
        fmt::print("{}", simgrid_platform(topology, topology.devices()));
    });
}

}  // namespace shardlings
