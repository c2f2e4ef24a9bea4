// Simulated ranks: their computing takes time in the simulator too.
#pragma once

#include "lib/machine/device/device.hpp"

namespace shardlings {

/// What a simulated rank has told the simulator of its computing; the simulator's process keeps one for each.
struct SpentWork {
    const Device* device = nullptr;
    double flops = 0.0;
};

/// Lets the rank's host in the simulator compute what the device has been charged with since the last call.
/// Comm does so before every message and wait. Does nothing on ranks that are processes.
void spend_computed_time(const Device& device);

}  // namespace shardlings
