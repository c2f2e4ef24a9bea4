#include <filesystem>

#include "lib/tools/cli/commands.hpp"

namespace shardlings {

int start_on_ranks(int ranks, const CommandLine& command_line, const Placement& placement)
{
    Command program(command_line.argv, command_line.argv + command_line.argc);
    program.front() = std::filesystem::canonical("/proc/self/exe").string();
    return launch(ranks, program, placement.hostfile);
}

}  // namespace shardlings
