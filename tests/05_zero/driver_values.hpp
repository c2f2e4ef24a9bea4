// Stage 3's values under probes, which write down what the modules compute with.
#pragma once

#include <sstream>

#include "lessons/05_zero/zero.hpp"
#include "lib/machine/tensor/arithmetic.hpp"
#include "tests/05_zero/driver_watch.hpp"

namespace zero_test {

/// Twice the own part of every bucket, as an optimizer changes it: exact in every dtype.
inline void double_shards(data_parallel::ParameterValues& values, std::size_t buckets)
{
    for (std::size_t b = 0; b < buckets; ++b) {
        data_parallel::Held held = values.held(b);
        const Tensor before = held.tensor.clone(Category::workspace);
        add(before, held.tensor);
    }
}

inline void put_shards(Case& c, const std::string& when, data_parallel::ParameterValues& values,
                       std::size_t buckets)
{
    for (std::size_t b = 0; b < buckets; ++b) {
        const data_parallel::Held held = values.held(b);
        c.put(fmt::format("{} shard {}", when, b), to_doubles(held.tensor));
        c.put(fmt::format("{} part {}", when, b), std::vector<double>{static_cast<double>(held.part.offset),
                                                                      static_cast<double>(held.part.count)});
    }
}

/// Input actions: "train" (all micro-batches), "evaluate", "release", "change". Action k writes "k f0.0
/// m0.p0" (what module 0's forward pass had for m0.p0; nothing where it was not bound), and a moment for each
/// pass.
inline void values(Case& c)
{
    std::optional<Group> group = group_of(c);
    if (!group) return;
    Watch watch(c, *group, Category::parameters);
    std::string action;  // "2 ", before the names of what it writes
    std::vector<std::vector<Parameter*>> parameters;
    const std::vector<double> flops = c.numbers("flops");
    const auto pass = [&](char which, std::size_t module, std::int64_t micro_batch) {
        const std::string name = action + name_of_pass(which, module, micro_batch);
        watch.moment("in " + name);
        const bool reads = which == 'f' || module > 0 || c.flag("first_reads");
        for (const Parameter* parameter : parameters[module])
            if (reads)
                c.put(name + " " + parameter->name,
                      parameter->value.empty() ? std::vector<double>{} : to_doubles(parameter->value));
        c.device().compute(flops[module]);
    };
    Modules modules = make_probes(sizes_of(c), c.flag("first_reads"), &c.device(), pass);
    parameters = parameters_by_module(modules);
    const std::vector<Bucket> buckets = buckets_of(c, modules, *group);
    auto values = zero::make_sharded_values(
        *group, modules, buckets, replica_options(c),
        c.text("fetch") == "broadcast" ? zero::Fetch::broadcast : zero::Fetch::all_gather);
    watch.moment("made");
    put_shards(c, "made", *values, buckets.size());

    IdleGradients gradients;
    watch_modules(modules, *values, gradients, watch, action);
    const std::vector<MicroBatch> batches = micro_batches(c.integer("micro_batches"));
    std::istringstream actions(c.text("actions"));
    std::string what;
    for (int k = 0; actions >> what; ++k) {
        action = fmt::format("{} ", k);
        if (what == "train") training::accumulate_gradients(modules, batches, 1.0);
        if (what == "evaluate") training::evaluate_loss(modules, std::span(batches).first(1));
        if (what == "release") values->release();
        if (what == "change") {
            double_shards(*values, buckets.size());
            values->gather_shards();
        }
        watch.moment(action + "done");
    }
    put_shards(c, "end", *values, buckets.size());
    values.reset();
    watch.moment("gone");
}

}  // namespace zero_test
