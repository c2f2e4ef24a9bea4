// All ways to split a run over a cluster, and the best of them.
#pragma once

#include <optional>
#include <vector>

#include "lib/tools/plan/time.hpp"

namespace shardlings::plan {

/// What is not left to the search.
struct Wanted {
    std::optional<std::int64_t> pp;
    std::optional<std::int64_t> dp;
    std::optional<std::int64_t> tp;
    std::optional<int> zero;
    std::optional<Schedule> schedule;
    std::optional<std::int64_t> micro_batch;
    std::optional<Recompute> recompute;

    bool any() const { return pp || dp || tp || zero || schedule || micro_batch || recompute; }
};

struct Planned {
    Split split;
    Memory memory;  // of the stage that needs most
    StepTime time;

    double seconds() const { return time.total(); }
};

/// Every split of the run over all devices of the cluster that check_split accepts and `wanted` allows: pp,
/// dp, tp whose product is the number of devices; ZeRO 0 to 3 (0 when dp is 1); GPipe, 1F1B, and interleaved
/// with 2 chunks or more (1F1B alone for one stage); every micro-batch that divides; recomputation none,
/// selective, full; sequence parallelism on and off.
std::vector<Split> all_splits(const Run& run, const Cluster& cluster, const Wanted& wanted);

struct Plan {
    std::int64_t layouts = 0;    // legal ones
    std::int64_t fitting = 0;    // of them, those that fit the devices' memory
    std::vector<Planned> best;   // the fastest that fits of each (pp, dp, tp), by step time
    std::vector<Planned> large;  // the smallest of each (pp, dp, tp) of which none fits, by memory
};

/// Error when there is no legal layout at all.
Plan search(const Run& run, const Cluster& cluster, const Wanted& wanted);

/// Of a plan in which nothing fits: by how much, of what, and what would make it fit, found by searching
/// without each thing that is wanted, and on 2, 4, 8… times the devices, up to 4096 times.
std::string what_would_fit(const Run& run, const Cluster& cluster, const Wanted& wanted, const Plan& plan);

}  // namespace shardlings::plan
