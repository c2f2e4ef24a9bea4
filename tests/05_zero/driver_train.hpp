// Whole training runs of a small GPT in one ZeRO stage.
#pragma once

#include "lessons/01_transformer/model.hpp"
#include "lessons/02_training_step/recomputation.hpp"
#include "lessons/04_data_parallel/batch_shard.hpp"
#include "tests/05_zero/driver_gradients.hpp"
#include "tests/05_zero/driver_optimizer.hpp"
#include "tests/05_zero/tokens.hpp"

namespace zero_test {

inline ModelShape model_shape(Case& c)
{
    return {c.integer("layers"), c.integer("hidden"), c.integer("heads"), c.integer("sequence"),
            c.integer("vocabulary")};
}

inline void put_memory(Case& c, const std::string& name)
{
    const MemoryUse& memory = c.device().memory();
    std::vector<double> bytes;
    for (const Category category : {Category::parameters, Category::gradients, Category::optimizer_states}) {
        bytes.push_back(static_cast<double>(memory.current_of(category)));
        bytes.push_back(static_cast<double>(memory.peak_of(category)));
    }
    c.put(name, bytes);
}

inline void put_traffic(Case& c, const std::string& name, const Comm& comm)
{
    const Traffic::Count sent = comm.traffic().total;
    c.put(name, std::vector<double>{static_cast<double>(sent.messages), static_cast<double>(sent.bytes)});
}

/// GPT's modules, wrapped for recomputation where the case says so.
inline Modules make_model(Case& c)
{
    Modules modules = transformer::make_gpt(model_shape(c));
    for (std::size_t i = 1; i + 1 < modules.size(); ++i)
        if (c.flag("recompute")) modules[i] = training::make_recomputed(std::move(modules[i]));
    return modules;
}

/// `steps` optimizer steps: losses of the own micro-batches, what update() returned, and in the end the held
/// values, the states, the memory and the traffic.
inline void train(Case& c)
{
    std::optional<Group> group = group_of(c);
    if (!group) return;
    {
        Modules modules = make_model(c);
        data_parallel::Replica replica = zero::make_zero_replica(
            static_cast<int>(c.integer("stage")), *group, modules, replica_options(c), zero_options(c));
        for (std::size_t i = 0; i < modules.size(); ++i)
            modules[i] =
                data_parallel::make_hooked(std::move(modules[i]), i, *replica.values, *replica.gradients);
        training::LossScale scale;
        scale.scale = c.number("scale");
        scale.growth_interval = 3;
        const bool scaled = c.flag("scaled");
        const std::int64_t count = c.integer("micro_batches");

        std::vector<double> losses, norms, skipped, scales;
        c.device().reset_peaks();
        for (std::int64_t step = 0; step < c.integer("steps"); ++step) {
            const Tokens tokens(model_shape(c), c.integer("sequences"),
                                static_cast<std::uint64_t>(c.integer("seed")), step);
            replica.gradients->begin_step(count);
            losses.push_back(training::accumulate_gradients(
                modules,
                data_parallel::shard_batch(tokens.global(), group->data.size(), group->data.rank(), count),
                scaled ? scale.scale : 1.0));
            replica.gradients->finish();
            const training::UpdateResult result =
                replica.optimizer->update(adamw_of(c), c.number("max_norm"), scaled ? &scale : nullptr);
            norms.push_back(result.gradient_norm);
            skipped.push_back(result.skipped ? 1.0 : 0.0);
            scales.push_back(scale.scale);
        }
        put_memory(c, "memory");
        put_traffic(c, "data", group->data);
        put_traffic(c, "control", group->control);
        c.put("losses", losses);
        c.put("norms", norms);
        c.put("skipped", skipped);
        c.put("scales", scales);
        for (std::size_t b = 0; b < replica.buckets->size(); ++b) {
            const data_parallel::Held held = replica.values->held(b);
            c.put(fmt::format("held {}", b), std::vector<double>{static_cast<double>(held.part.offset),
                                                                 static_cast<double>(held.part.count)});
            c.put_bytes(fmt::format("values {}", b), held.tensor.buffer());
        }
        put_states(c, *replica.optimizer, replica.buckets->size());
    }
    put_memory(c, "left");
}

/// The message of the Error that a stage or its options end with, or nothing.
inline void refused_replica(Case& c)
{
    std::optional<Group> group = group_of(c);
    if (!group) return;
    std::string message;
    try {
        const Modules modules = make_model(c);
        zero::make_zero_replica(static_cast<int>(c.integer("stage")), *group, modules, replica_options(c),
                                zero_options(c));
    } catch (const NotImplemented&) {
        throw;
    } catch (const Error& error) {
        message = error.what();
    }
    c.put("message", message);
}

}  // namespace zero_test
