// A module that tells the trace when it computes.
#pragma once

#include <memory>
#include <string>

#include "lib/machine/nn/module.hpp"

namespace shardlings {

/// Computes what `inner` computes and records each pass as an Event called "forward `name`" or "backward
/// `name`" on `device`. `chunk`: which of a stage's several chunks it belongs to, or -1.
std::unique_ptr<Module> make_traced(Device& device, std::unique_ptr<Module> inner, std::string name,
                                    int chunk = -1);

}  // namespace shardlings
