// Runs of this program under its own watch.
#pragma once

#include "lib/tools/launch/launch.hpp"

namespace shardlings {

/// `command`, which starts mpirun, by way of `shardlings diagnose`: when its ranks wait for each other for
/// ever, or call collectives that do not fit, the run ends and says so. As it is when the library is not
/// built, or SHARDLINGS_WATCH=no is in the environment.
Command watched(const Command& command);

}  // namespace shardlings
