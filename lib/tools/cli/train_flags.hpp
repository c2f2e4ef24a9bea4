// The flags of a training run, which several subcommands take.
#pragma once

#include <string>

#include "lib/tools/train/options.hpp"

namespace CLI {
class App;
}

namespace shardlings {

/// The flags whose values are not yet what TrainOptions holds.
struct TrainFlags {
    TrainOptions options;
    std::string dtype = "fp32";
    std::string recompute = "none";
    std::string budget;
    std::string topology;
    std::string hostfile;
    double device_flops = Topology{}.flops;
    std::string zero3_fetch = "all-gather";
    std::string zero_accumulate = "full";
    std::string baseline;
};

/// --layers, --hidden, …
void add_model_flags(CLI::App& command, ModelShape& shape);
/// --batch, --lr, --dtype, …
void add_step_flags(CLI::App& command, TrainFlags& flags);
/// --dp, --tp, --pp, --zero, --schedule, --topology, …
void add_layout_flags(CLI::App& command, TrainFlags& flags);

/// Fills flags.options from the flags that were given as text. Error for what cannot be run.
void finish(TrainFlags& flags);

}  // namespace shardlings
