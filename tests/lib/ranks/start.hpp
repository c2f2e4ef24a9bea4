// Starts the programs beside this file from a test.
#pragma once

#include <filesystem>
#include <string>

#include "lib/tools/launch/launch.hpp"

namespace ranks_test {

using namespace shardlings;

constexpr double limit_seconds = 60.0;

/// Runs `ranks` ranks of a program of this folder, which is built beside the test program. A rank that fails
/// first leaves the file "failed" in `run`.
inline ProcessResult start(int ranks, const std::string& program, const Command& arguments,
                           const TemporaryFolder& run = TemporaryFolder())
{
    const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "ranks";
    Command command{(folder / program).string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    Environment environment = mpirun_environment();
    environment.emplace_back("SHARDLINGS_RUN_DIR", run.path());
    return run_captured(mpirun_command(ranks, command), environment, limit_seconds);
}

}  // namespace ranks_test
