// Runs of ranks under the watch of `shardlings diagnose`.
#pragma once

#include "lib/tools/launch/launch.hpp"

namespace shardlings {

/// `command`, which starts mpirun, by way of `shardlings diagnose`: when its ranks wait for each other for
/// ever, or call collectives that do not fit, the run ends and says so. With the name of a source file, in a
/// few lines about that file. As it is when program and library are not beside this process's program or in a
/// folder above it, or SHARDLINGS_WATCH=no is in the environment.
Command watched(const Command& command, const std::string& file = "");

}  // namespace shardlings
