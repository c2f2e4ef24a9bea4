// Values of stage 3, and how much ordinary memory there is beside them while modules compute.
#pragma once

#include "lessons/05_zero/zero.hpp"
#include "lib/tools/grade/driver_frames.hpp"
#include "tests/05_zero/driver_watch.hpp"

namespace zero_test {

/// Trains one micro-batch; output "grown": the bytes by which the heap was larger in some pass than before
/// the values were made, at most.
inline void elsewhere(Case& c)
{
    std::optional<Group> group = group_of(c);
    if (!group) return;
    std::int64_t begin = 0;
    std::int64_t grown = 0;
    const auto pass = [&](char, std::size_t, std::int64_t) {
        grown = std::max(grown, heap_in_use() - begin);
    };
    Modules modules = make_probes(sizes_of(c), c.flag("first_reads"), &c.device(), pass);
    const std::vector<Bucket> buckets = buckets_of(c, modules, *group);
    begin = heap_in_use();
    auto values =
        zero::make_sharded_values(*group, modules, buckets, replica_options(c), zero::Fetch::all_gather);
    IdleGradients gradients;
    for (std::size_t i = 0; i < modules.size(); ++i)
        modules[i] = data_parallel::make_hooked(std::move(modules[i]), i, *values, gradients);
    training::accumulate_gradients(modules, micro_batches(1), 1.0);
    c.put("grown", static_cast<double>(grown));
}

}  // namespace zero_test
