// `shardlings bench`: wall-clock measurements of this machine. Nothing here is asserted by a test.
#pragma once

#include "lib/tools/cli/commands.hpp"

namespace shardlings {

void add_bench_commands(CLI::App& app, const CommandLine& command_line);

}  // namespace shardlings
