// A small GPT trained on a group of ranks, with what every rank saw. Lesson 05's driver uses it too.
#pragma once

#include "lessons/01_transformer/model.hpp"
#include "lessons/02_training_step/accumulation.hpp"
#include "lessons/04_data_parallel/batch_shard.hpp"
#include "lessons/04_data_parallel/hooks.hpp"
#include "lib/tools/grade/driver.hpp"

namespace train_cases {

using namespace grade;
using namespace data_parallel;

/// Makes what a rank holds of the model.
using MakeReplica = std::function<Replica(Group&, const Modules&, const ReplicaOptions&)>;

/// What a rank holds of every bucket: the place of its part, and the part.
template <class Holder>
void put_held(Case& c, const std::string& name, const std::vector<Bucket>& buckets, Holder& holder)
{
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        const Held held = holder.held(b);
        c.put(fmt::format("{} part {}", name, b), std::vector<double>{static_cast<double>(held.part.offset),
                                                                      static_cast<double>(held.part.count)});
        c.put(fmt::format("{} {}", name, b), held.tensor);
    }
}

/// Trains `steps` steps. Outputs: losses (of this rank's part), norms and skipped, one a step; "gradients
/// STEP BUCKET" when show_gradients; "values BUCKET" and "m BUCKET" at the end.
inline void train(Case& c, const MakeReplica& make)
{
    Group group = make_group(c.comm());
    Modules modules = transformer::make_gpt({c.integer("layers"), c.integer("hidden"), c.integer("heads"),
                                             c.integer("tokens"), c.integer("vocabulary")});
    const ReplicaOptions options{parse_dtype(c.text("dtype")), static_cast<std::uint64_t>(c.integer("seed")),
                                 c.integer("bucket_bytes"), c.flag("overlap")};
    Replica replica = make(group, modules, options);
    for (std::size_t i = 0; i < modules.size(); ++i)
        modules[i] = make_hooked(std::move(modules[i]), i, *replica.values, *replica.gradients);

    const std::vector<std::int32_t> inputs = c.ids("inputs"), targets = c.ids("targets");
    const std::int64_t sequences = c.integer("sequences"), tokens = c.integer("tokens"),
                       micro_batches = c.integer("micro_batches"), steps = c.integer("steps");
    const auto batch_tokens = static_cast<std::size_t>(sequences * tokens);
    training::AdamW adamw;
    adamw.learning_rate = c.number("learning_rate");
    training::LossScale scale{c.number("loss_scale"), 0, 5, 16777216.0, 1.0};
    const bool scaled = options.dtype == DType::fp16;
    std::vector<double> losses, norms, skipped;
    for (std::int64_t step = 0; step < steps; ++step) {
        const std::size_t first = static_cast<std::size_t>(step) * batch_tokens;
        const MicroBatch global{sequences,
                                tokens,
                                std::span(inputs).subspan(first, batch_tokens),
                                std::span(targets).subspan(first, batch_tokens),
                                0.0,
                                0};
        replica.gradients->begin_step(micro_batches);
        losses.push_back(training::accumulate_gradients(
            modules, shard_batch(global, group.data.size(), group.data.rank(), micro_batches),
            scaled ? scale.scale : 1.0));
        replica.gradients->finish();
        if (c.flag("show_gradients"))
            put_held(c, fmt::format("gradients {}", step), *replica.buckets, *replica.gradients);
        const training::UpdateResult result =
            replica.optimizer->update(adamw, c.number("max_norm"), scaled ? &scale : nullptr);
        norms.push_back(result.gradient_norm);
        skipped.push_back(result.skipped ? 1.0 : 0.0);
    }
    replica.values->release();
    c.stop_measuring();
    put_held(c, "values", *replica.buckets, *replica.values);
    for (std::size_t b = 0; b < replica.buckets->size(); ++b)
        c.put(fmt::format("m {}", b), replica.optimizer->states(b).m);
    c.put("losses", losses);
    c.put("norms", norms);
    c.put("skipped", skipped);
}

}  // namespace train_cases
