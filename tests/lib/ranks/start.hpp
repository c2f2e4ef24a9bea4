// Starts the programs beside this file from a test.
#pragma once

#include <filesystem>
#include <string>

#include "lib/tools/launch/launch.hpp"

namespace ranks_test {

using namespace shardlings;

constexpr double limit_seconds = 60.0;

/// The folder that make builds in, seen from build/tests/lib/test.
inline std::filesystem::path build_folder()
{
    return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path().parent_path();
}

/// Runs `ranks` ranks of a program of this folder, which is built beside the test program. A rank that fails
/// first leaves the file "failed" in `run`.
inline ProcessResult start(int ranks, const std::string& program, const Command& arguments,
                           const TemporaryFolder& run = TemporaryFolder())
{
    Command command{(build_folder() / "tests/lib/ranks" / program).string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    Environment environment = mpirun_environment();
    environment.emplace_back("SHARDLINGS_RUN_DIR", run.path());
    return run_captured(mpirun_command(ranks, command), environment, limit_seconds);
}

}  // namespace ranks_test
