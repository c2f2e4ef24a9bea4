#include "lib/tools/plan/search.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "lib/machine/base/counted.hpp"
#include "lib/machine/base/error.hpp"

namespace shardlings::plan {

namespace {

std::vector<std::int64_t> divisors(std::int64_t value)
{
    std::vector<std::int64_t> result;
    for (std::int64_t d = 1; d <= value / d; ++d) {
        if (value % d != 0) continue;
        result.push_back(d);
        if (d != value / d) result.push_back(value / d);
    }
    std::sort(result.begin(), result.end());
    return result;
}

template <class Value>
bool allows(const std::optional<Value>& wanted, Value value)
{
    return !wanted || *wanted == value;
}

/// `use` for every degree of the three dimensions.
template <class Use>
void each_grid(const Run& run, const Cluster& cluster, const Wanted& wanted, Use use)
{
    const Model& m = run.model;
    for (const std::int64_t tp : divisors(cluster.devices)) {
        if (m.kv_heads % tp != 0 || m.mlp % tp != 0 || !allows(wanted.tp, tp)) continue;
        for (const std::int64_t pp : divisors(cluster.devices / tp)) {
            const std::int64_t dp = cluster.devices / tp / pp;
            if (m.layers % pp == 0 && run.batch % dp == 0 && allows(wanted.pp, pp) && allows(wanted.dp, dp))
                use(pp, dp, tp);
        }
    }
}

/// The schedules of a grid, with their chunks.
std::vector<std::pair<Schedule, std::int64_t>> schedules_of(const Run& run, const Split& split)
{
    std::vector<std::pair<Schedule, std::int64_t>> result{{Schedule::one_forward_one_backward, 1}};
    if (split.pp == 1) return result;
    result.emplace_back(Schedule::gpipe, 1);
    if (split.micro_batches(run) % split.pp == 0)
        for (const std::int64_t chunks : divisors(run.model.layers / split.pp))
            if (chunks > 1) result.emplace_back(Schedule::interleaved, chunks);
    return result;
}

/// The rest of a split whose grid and micro-batch are chosen.
void append_variants(const Run& run, const Wanted& wanted, Split split, std::vector<Split>& splits)
{
    const std::int64_t rows = split.micro_batch * run.model.sequence;
    for (const auto& [schedule, chunks] : schedules_of(run, split)) {
        if (!allows(wanted.schedule, schedule)) continue;
        split.schedule = schedule;
        split.virtual_stages = chunks;
        for (int zero = 0; zero <= (split.dp > 1 ? 3 : 0); ++zero)
            for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full})
                for (const bool sequence : {false, true}) {
                    if (sequence && (split.tp == 1 || rows % split.tp != 0)) continue;
                    if (!allows(wanted.zero, zero) || !allows(wanted.recompute, recompute)) continue;
                    split.zero = zero;
                    split.recompute = recompute;
                    split.sequence_parallel = sequence;
                    splits.push_back(split);
                }
    }
}

/// The faster; of two as fast, the smaller.
bool better(const Planned& a, const Planned& b)
{
    const auto order = [](const Planned& x) { return std::tuple(x.seconds(), x.memory.total()); };
    return order(a) < order(b);
}

bool smaller(const Planned& a, const Planned& b)
{
    const auto order = [](const Planned& x) { return std::tuple(x.memory.total(), x.seconds()); };
    return order(a) < order(b);
}

struct OfGrid {
    std::optional<Planned> fastest;  // of those that fit
    std::optional<Planned> smallest;
};

}  // namespace

std::vector<Split> all_splits(const Run& run, const Cluster& cluster, const Wanted& wanted)
{
    std::vector<Split> splits;
    each_grid(run, cluster, wanted, [&](std::int64_t pp, std::int64_t dp, std::int64_t tp) {
        for (const std::int64_t micro_batch : divisors(run.batch / dp)) {
            if (!allows(wanted.micro_batch, micro_batch)) continue;
            Split split;
            split.pp = pp;
            split.dp = dp;
            split.tp = tp;
            split.micro_batch = micro_batch;
            append_variants(run, wanted, split, splits);
        }
    });
    return splits;
}

Plan search(const Run& run, const Cluster& cluster, const Wanted& wanted)
{
    Plan plan;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, OfGrid> grids;
    for (const Split& split : all_splits(run, cluster, wanted)) {
        const Planned layout{split, largest_memory(run, split), step_time(run, split, cluster)};
        const bool fits = layout.memory.total() <= cluster.memory;
        OfGrid& grid = grids[{split.pp, split.dp, split.tp}];
        if (fits && (!grid.fastest || better(layout, *grid.fastest))) grid.fastest = layout;
        if (!grid.smallest || smaller(layout, *grid.smallest)) grid.smallest = layout;
        ++plan.layouts;
        if (fits) ++plan.fitting;
    }
    check(plan.layouts > 0,
          "no layout of {} is legal: pp x dp x tp must be their number, tp divide the {} of keys "
          "and values and the {} columns of the MLP, pp the {}, dp x micro-batch the batch {}{}",
          counted(cluster.devices, "device"), counted(run.model.kv_heads, "head"), run.model.mlp,
          counted(run.model.layers, "layer"), run.batch,
          wanted.any() ? "; and it must be what the flags ask for" : "");
    for (const auto& [grid, kept] : grids) {
        if (kept.fastest)
            plan.best.push_back(*kept.fastest);
        else
            plan.large.push_back(*kept.smallest);
    }
    std::sort(plan.best.begin(), plan.best.end(), better);
    std::sort(plan.large.begin(), plan.large.end(), smaller);
    return plan;
}

}  // namespace shardlings::plan
