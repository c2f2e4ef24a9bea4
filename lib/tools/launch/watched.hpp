// Runs of ranks under the watch of `shardlings diagnose`.
#pragma once

#include <filesystem>

#include "lib/tools/launch/launch.hpp"

namespace shardlings {

/// Where the watch's programs and library are: beside this process's program or in a folder above it. Empty
/// when they are not, when SHARDLINGS_WATCH=no is in the environment, and in builds whose programs cannot be
/// watched.
std::filesystem::path watch_folder();

/// `command`, which starts mpirun, by way of `shardlings diagnose`: when its ranks wait for each other for
/// ever, or call collectives that do not fit, the run ends and says so. With the name of a source file, in a
/// few lines about that file. As it is when there is no watch_folder().
Command watched(const Command& command, const std::string& file = "");

}  // namespace shardlings
