// How a training run is spread over devices.
#pragma once

#include <string>

namespace shardlings {

/// Degrees of pipeline, data and tensor parallelism, and what goes with them.
struct Layout {
    int pp = 1;
    int dp = 1;
    int tp = 1;
    int zero = 0;                    // ZeRO stage
    std::string schedule = "gpipe";  // of the pipeline: naive, gpipe, 1f1b, interleaved
    bool sequence_parallel = false;

    int world_size() const { return pp * dp * tp; }

    /// Error for degrees below 1, an unknown schedule, and everything that this version cannot run yet.
    void validate() const;
};

}  // namespace shardlings
