#include <fmt/format.h>

#include <algorithm>

#include "lib/tools/plan/parts.hpp"
#include "lib/tools/plan/search.hpp"
#include "lib/tools/plan/text.hpp"

namespace shardlings::plan {

namespace {

constexpr std::int64_t most_times_the_devices = 4096;

template <class Value>
void append_without(const char* flag, std::optional<Value> Wanted::*member, const Run& run,
                    const Cluster& cluster, Wanted wanted, std::string& text)
{
    if (!(wanted.*member)) return;
    wanted.*member = {};
    const std::int64_t fitting = search(run, cluster, wanted).fitting;
    if (fitting > 0)
        text += fmt::format("; without {} {} layout{} would", flag, fitting, fitting == 1 ? "" : "s");
}

void append_more_devices(const Run& run, const Cluster& cluster, Wanted wanted, std::string& text)
{
    wanted.dp = {};
    for (std::int64_t times = 2; times <= most_times_the_devices; times *= 2) {
        Cluster larger = cluster;
        larger.devices *= times;
        if (larger.devices > larger.devices_per_node && larger.devices % larger.devices_per_node != 0)
            continue;
        if (all_splits(run, larger, wanted).empty()) break;  // nor for more
        if (search(run, larger, wanted).fitting == 0) continue;
        text += fmt::format("; on {} devices something would", larger.devices);
        return;
    }
    text += "; more devices alone would not help";
}

}  // namespace

std::string what_would_fit(const Run& run, const Cluster& cluster, const Wanted& wanted, const Plan& plan)
{
    std::string text;
    append_without("--zero", &Wanted::zero, run, cluster, wanted, text);
    append_without("--recompute", &Wanted::recompute, run, cluster, wanted, text);
    append_without("--micro-batch", &Wanted::micro_batch, run, cluster, wanted, text);
    append_without("--schedule", &Wanted::schedule, run, cluster, wanted, text);
    append_without("--pp", &Wanted::pp, run, cluster, wanted, text);
    append_without("--dp", &Wanted::dp, run, cluster, wanted, text);
    append_without("--tp", &Wanted::tp, run, cluster, wanted, text);
    append_more_devices(run, cluster, wanted, text);
    const Planned& smallest = plan.large.front();
    const auto parts = parts_of(smallest.memory);
    const auto largest = std::max_element(parts.begin(), parts.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    return fmt::format(
        "nothing fits: of {} layouts the smallest ({}) needs {} of a device that has {}, {} too much; most "
        "of it, {}, is for {}{}",
        plan.layouts, text_of(smallest.split), with_prefix(smallest.memory.total(), "B"),
        with_prefix(cluster.memory, "B"), with_prefix(smallest.memory.total() - cluster.memory, "B"),
        with_prefix(largest->second, "B"), largest->first, text);
}

}  // namespace shardlings::plan
