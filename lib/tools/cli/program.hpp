// The program below main: command line in, exit code out. Simulated ranks run it side by side in one process.
#pragma once

namespace shardlings {

/// Runs the subcommand that `argv` names; errors go to standard error. Returns the exit code.
int run_program(int argc, char** argv);

}  // namespace shardlings
