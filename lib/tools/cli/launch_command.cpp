#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "lib/machine/base/counted.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/machine/comm/hosts.hpp"
#include "lib/tools/cli/commands.hpp"
#include "lib/tools/launch/watched.hpp"
#include "lib/tools/train/file.hpp"

namespace shardlings {

namespace {

constexpr int most_ranks = 4096;

/// Error when there is no such program; mpirun, told to be quiet, would not say so.
void check_is_there(const std::string& program)
{
    std::string folders = program.find('/') != std::string::npos ? "" : std::getenv("PATH");
    bool there = folders.empty() && access(program.c_str(), X_OK) == 0;
    std::istringstream list(folders);
    for (std::string folder; std::getline(list, folder, ':');)
        there = there || access((folder + "/" + program).c_str(), X_OK) == 0;
    check(there, "there is no program '{}': give its path, or the name of one in $PATH", program);
}

}  // namespace

int launch(int ranks, const Command& program, const std::string& hostfile)
{
    check_is_there(program.front());
    check(ranks >= 1 && ranks <= most_ranks, "--ranks is {}: expected 1 to {}", ranks, most_ranks);
    const TemporaryFolder run_folder;
    std::string hosts_of_mpi;
    if (!hostfile.empty()) {
        const std::vector<Host> hosts = read_hostfile(hostfile);
        check_hosts(hosts, ranks, hostfile);
        hosts_of_mpi = run_folder.path() + "/hosts";
        write_text(hosts_of_mpi, hostfile_text(hosts));
    }
    Environment environment = mpirun_environment();
    environment.emplace_back(run_folder_variable, run_folder.path());
    if (isatty(STDOUT_FILENO) != 0) environment.emplace_back("SHARDLINGS_TERMINAL", "1");
    const Command command = mpirun_command(ranks, program, hosts_of_mpi);
    return run_foreground(hostfile.empty() ? watched(command) : command, environment);
}

Topology topology_of_run(const MpiSession& session, const Topology& topology, bool chosen)
{
    if (chosen) return topology;
    const Hosts hosts = find_hosts(session);
    if (hosts.number > 1 && session.rank() == 0) {
        if (hosts.regular)
            fmt::print("{} hosts of {}: they are the nodes of the cluster\n", hosts.number,
                       counted(hosts.ranks_per_host, "device"));
        else
            fmt::print(
                "{} hosts without equally many consecutive ranks on each: virtual time takes them for one "
                "node, "
                "unless you give a --topology\n",
                hosts.number);
    }
    return with_hosts(topology, hosts);
}

void add_launch_command(CLI::App& app)
{
    struct Flags {
        int ranks = 1;
        std::string hostfile;
        Command program;
    };
    auto flags = std::make_shared<Flags>();
    CLI::App* command =
        app.add_subcommand("launch", "start any MPI program on ranks, with the project's settings");
    command->add_option("--ranks", flags->ranks, "number of ranks")->required();
    command->add_option("--hostfile", flags->hostfile, hostfile_help);
    command->add_option("program", flags->program, "the program and its arguments, after --")->required();
    command->positionals_at_end();
    command->callback([flags] {
        if (const int code = launch(flags->ranks, flags->program, flags->hostfile); code != 0)
            throw CLI::RuntimeError(code);
    });
}

}  // namespace shardlings
