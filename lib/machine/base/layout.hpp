// How a training run is spread over devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shardlings {

/// Degrees of pipeline, data and tensor parallelism, and what goes with them.
struct Layout {
    int pp = 1;
    int dp = 1;
    int tp = 1;
    int zero = 0;                    // ZeRO stage
    std::string schedule = "gpipe";  // of the pipeline: naive, gpipe, 1f1b, interleaved
    int virtual_stages = 1;          // chunks of the model that each stage holds, of the interleaved schedule
    std::vector<std::int64_t> blocks{};  // of each chunk, in the model's order; empty: balanced
    bool sequence_parallel = false;

    int world_size() const { return pp * dp * tp; }

    /// Error for degrees below 1, an unknown schedule, and everything that this version cannot run yet.
    void validate() const;
};

}  // namespace shardlings
