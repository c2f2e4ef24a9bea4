// The subcommands of build/shardlings. Each adds itself to the program and brings its own flags.
#pragma once

#include <string>

#include "lib/machine/comm/session.hpp"
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
void add_verify_command(CLI::App& app, const CommandLine& command_line);
void add_generate_command(CLI::App& app, const CommandLine& command_line);
void add_launch_command(CLI::App& app);
void add_schedule_command(CLI::App& app);
void add_platform_command(CLI::App& app);
void add_diagnose_command(CLI::App& app);
void add_grid_command(CLI::App& app);
void add_measure_command(CLI::App& app, const CommandLine& command_line);
void add_completion_command(CLI::App& app);
void add_count_command(CLI::App& app);
void add_plan_command(CLI::App& app);

/// What is wrong with the text of a number that must not be negative, for CLI::Option::check; empty: nothing.
/// An unsigned number would wrap around without a word.
std::string refuse_negative(const std::string& number);

/// Where ranks are: processes on the hosts of a file, or, without one, on this machine; simulated ones on
/// devices of a topology.
struct Placement {
    std::string hostfile;
    Topology topology;
};

inline constexpr const char* hostfile_help =
    "file with a host and its number of ranks a line, as in 'alpha slots=4' (default: all ranks on this "
    "machine)";

/// `program` on `ranks` ranks under mpirun, with the project's settings. Returns its exit code.
int launch(int ranks, const Command& program, const std::string& hostfile = "");

/// This program again, with the same arguments, on `ranks` ranks: processes under mpirun, or, in
/// build/shardlings-simulated, simulated in this one. Returns its exit code.
int start_on_ranks(int ranks, const CommandLine& command_line, const Placement& placement = {});

/// For a rank, once it runs: `topology`, unless the user has chosen it, with the hosts that the ranks really
/// are on as its nodes. Rank 0 says which, where there are several. Every rank must call it.
Topology topology_of_run(const MpiSession& session, const Topology& topology, bool chosen);

}  // namespace shardlings
