// The subcommands of build/shardlings. Each adds itself to the program and brings its own flags.
#pragma once

#include "lib/machine/device/topology.hpp"
#include "lib/tools/launch/launch.hpp"

namespace CLI {
class App;
}

namespace shardlings {

/// The command line that this process was started with.
struct CommandLine {
    int argc;
    char** argv;
};

void add_train_command(CLI::App& app, const CommandLine& command_line);
void add_generate_command(CLI::App& app, const CommandLine& command_line);
void add_launch_command(CLI::App& app);
void add_schedule_command(CLI::App& app);

/// `program` on `ranks` ranks under mpirun, with the project's settings. Returns its exit code.
int launch(int ranks, const Command& program);

/// This program again, with the same arguments, on `ranks` ranks: processes under mpirun, or, in
/// build/shardlings-simulated, ranks of one simulated cluster of this topology. Returns its exit code.
int start_on_ranks(int ranks, const CommandLine& command_line, const Topology& topology = {});

}  // namespace shardlings
