#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>

#include "lib/machine/base/error.hpp"
#include "lib/tools/cli/commands.hpp"

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

int launch(int ranks, const Command& program)
{
    check_is_there(program.front());
    check(ranks >= 1 && ranks <= most_ranks, "--ranks is {}: expected 1 to {}", ranks, most_ranks);
    const TemporaryFolder run_folder;
    Environment environment = mpirun_environment();
    environment.emplace_back(run_folder_variable, run_folder.path());
    if (isatty(STDOUT_FILENO) != 0) environment.emplace_back("SHARDLINGS_TERMINAL", "1");
    return run_foreground(mpirun_command(ranks, program), environment);
}

void add_launch_command(CLI::App& app)
{
    struct Flags {
        int ranks = 1;
        Command program;
    };
    auto flags = std::make_shared<Flags>();
    CLI::App* command =
        app.add_subcommand("launch", "start any MPI program on ranks, with the project's settings");
    command->add_option("--ranks", flags->ranks, "number of ranks")->required();
    command->add_option("program", flags->program, "the program and its arguments, after --")->required();
    command->positionals_at_end();
    command->callback([flags] {
        if (const int code = launch(flags->ranks, flags->program); code != 0) throw CLI::RuntimeError(code);
    });
}

}  // namespace shardlings
