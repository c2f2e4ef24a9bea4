// Stage 2's gradients under probes, which add to them what the case's pattern says.
#pragma once

#include "lessons/05_zero/zero.hpp"
#include "lib/machine/tensor/arithmetic.hpp"
#include "tests/05_zero/driver_watch.hpp"

namespace zero_test {

inline zero::ZeroOptions zero_options(Case& c)
{
    zero::ZeroOptions options;
    options.fetch = c.text("fetch") == "broadcast" ? zero::Fetch::broadcast : zero::Fetch::all_gather;
    options.gradient_buckets = static_cast<int>(c.integer("gradient_buckets"));
    options.accumulate_in_shards = c.flag("accumulate_in_shards");
    return options;
}

/// gradient += values, rounded to the gradient's dtype. `second`: to the second accumulator, made when it is
/// not there.
inline void add_to_gradient(Parameter& parameter, bool second, const std::vector<double>& values)
{
    check(!parameter.gradient.empty(),
          "the backward pass wants to add to the gradient of {}, but it is bound to nothing", parameter.name);
    if (second && parameter.second_gradient.empty()) {
        parameter.second_gradient = make_like(parameter.gradient, Category::workspace);
        parameter.second_gradient.fill_zero();
    }
    Tensor rounded = make_like(parameter.gradient, Category::workspace);
    from_doubles(values, rounded);
    add(rounded, second ? parameter.second_gradient : parameter.gradient);
}

/// `steps` steps of all micro-batches. Step k writes a moment for each backward pass, "k passes", "k finish",
/// and "k sum 0", what is held of bucket 0.
inline void gradients(Case& c)
{
    std::optional<Group> group = group_of(c);
    if (!group) return;
    Watch watch(c, *group, Category::gradients);
    std::string prefix;  // "2 ": of the step
    Pattern pattern{c.flag("digits"), static_cast<std::uint64_t>(c.integer("seed")), group->data.size(), 0};
    std::vector<std::vector<Parameter*>> parameters;
    const std::vector<double> flops = c.numbers("flops");
    Modules modules = make_probes(
        sizes_of(c), c.flag("first_reads"), &c.device(), [&](char which, std::size_t module, std::int64_t m) {
            if (which == 'b') {
                watch.moment("in " + prefix + name_of_pass(which, module, m));
                for (Parameter* parameter : parameters[module]) {
                    const bool second = module == 0 && parameter == parameters[0].front();
                    add_to_gradient(*parameter, second,
                                    pattern.values({group->data.rank(), m, second}, *parameter,
                                                   place_of(parameters, *parameter)));
                }
            }
            c.device().compute(flops[module]);
        });
    parameters = parameters_by_module(modules);
    const std::vector<Bucket> buckets = buckets_of(c, modules, *group);
    auto gradients =
        zero::make_sharded_gradients(*group, modules, buckets, replica_options(c), zero_options(c));
    watch.moment("made");

    IdleValues values;
    watch_modules(modules, values, *gradients, watch, prefix);
    const std::vector<MicroBatch> batches = micro_batches(c.integer("micro_batches"));
    for (; pattern.step < c.integer("steps"); ++pattern.step) {
        prefix = fmt::format("{} ", pattern.step);
        gradients->begin_step(std::ssize(batches));
        training::accumulate_gradients(modules, batches, 1.0);
        watch.moment(prefix + "passes");
        gradients->finish();
        watch.moment(prefix + "finish");
        for (std::size_t b = 0; b < buckets.size(); ++b) {
            const data_parallel::Held held = gradients->held(b);
            c.put(fmt::format("{}part {}", prefix, b),
                  std::vector<double>{static_cast<double>(held.part.offset),
                                      static_cast<double>(held.part.count)});
            c.put(fmt::format("{}sum {}", prefix, b), to_doubles(held.tensor));
        }
    }
    gradients.reset();
    watch.moment("gone");
}

}  // namespace zero_test
