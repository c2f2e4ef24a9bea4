#include "lib/machine/base/error.hpp"
#include "lib/tools/cli/commands.hpp"
#include "lib/tools/cli/program.hpp"
#include "lib/tools/simgrid/simulate.hpp"

namespace shardlings {

int start_on_ranks(int ranks, const CommandLine& command_line, const Placement& placement)
{
    check(placement.hostfile.empty(), "simulated ranks are all in this process: leave --hostfile out");
    return simulate_ranks(ranks, placement.topology, {},
                          [&] { return run_program(command_line.argc, command_line.argv); });
}

}  // namespace shardlings
