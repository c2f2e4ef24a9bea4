// Case operations on the engine: programs over probes, and over a small GPT.
#pragma once

#include "lessons/06_pipeline/engine.hpp"
#include "tests/06_pipeline/driver_stage.hpp"
#include "tests/06_pipeline/probes.hpp"

namespace pipeline_test {

inline ProbeModel probe_model(Case& c)
{
    ProbeModel model{{}, c.integer("hidden"), parse_dtype(c.text("dtype"))};
    const std::vector<double> forward = c.numbers("forward_flops"), backward = c.numbers("backward_flops");
    const std::vector<std::int32_t> saved = c.ids("saved"), saves_x = c.ids("saves_x");
    for (std::size_t i = 0; i < forward.size(); ++i)
        model.work.push_back({forward[i], backward[i], saved[i], saves_x[i] != 0});
    return model;
}

/// The chunks of one stage, of which chunk c of the model has chunk_modules[c] modules.
inline pipeline::Stage probe_stage(Case& c, const Schedule& schedule, int stage, const ProbeModel& model,
                                   ProbeLog& log)
{
    pipeline::Stage result;
    std::size_t module = 0;
    int chunk = 0;
    for (const std::int32_t count : c.ids("chunk_modules")) {
        const bool own = chunk++ % schedule.stages == stage;
        const std::size_t first = result.modules.size();
        for (std::int32_t i = 0; i < count; ++i, ++module)
            if (own) result.modules.push_back(std::make_unique<Probe>(model, module, c.device(), log));
        if (own) result.chunks.push_back({first, result.modules.size()});
    }
    return result;
}

inline std::vector<MicroBatch> probe_batches(Case& c)
{
    std::vector<MicroBatch> batches;
    for (const std::int32_t sequences : c.ids("sequences"))
        batches.push_back(
            {sequences, c.integer("tokens"), {}, {}, 1.0, static_cast<std::int64_t>(batches.size())});
    return batches;
}

/// A program over probes, or the forward passes alone. With "refused", of several the error of this rank.
inline void run_probes(Case& c, const Schedule& schedule)
{
    Comm group = c.comm().split(static_cast<int>(c.integer("color")), static_cast<int>(c.integer("key")));
    const ProbeModel model = probe_model(c);
    const std::vector<MicroBatch> batches = probe_batches(c);
    const ModelShape shape{1, model.hidden, 1, c.integer("tokens"), 1};
    ProbeLog log;
    pipeline::Stage stage = probe_stage(c, schedule, group.rank(), model, log);
    const auto run = [&] {
        c.put("loss", c.flag("forward_only")
                          ? pipeline::run_forward(group, stage, schedule, shape, model.dtype, batches)
                          : pipeline::run_program(group, stage, schedule, shape, model.dtype, batches,
                                                  c.number("loss_scale"), c.flag("recompute")));
    };
    c.start_measuring();
    if (c.flag("refused"))
        put_refusal(c, run);
    else
        run();
    c.stop_measuring();
    c.put("clock", c.device().clock().now());
    c.put("calls", log.calls);
    c.put("times", log.times);
    c.put("held", log.held);
    c.put("loss_gradients", log.loss_gradients);
    c.put("problem", log.problem);
}

/// A program over a stage of a GPT, with the tied gradients added up.
inline void run_gpt(Case& c, const Schedule& schedule)
{
    StageWithMemory own = stage_with_memory(c, c.comm().rank());
    const std::vector<std::int32_t> inputs = c.ids("inputs"), targets = c.ids("targets");
    const MicroBatch batch{c.integer("sequences"), c.integer("tokens"), inputs, targets, 0.0, 0};
    const std::vector<MicroBatch> batches = training::split_batch(batch, c.integer("micro_batches"));
    const DType dtype = parse_dtype(c.text("dtype"));
    c.start_measuring();
    c.put("forward loss", pipeline::run_forward(c.comm(), own.stage, schedule, shape_of(c), dtype, batches));
    c.put("loss", pipeline::run_program(c.comm(), own.stage, schedule, shape_of(c), dtype, batches,
                                        c.number("loss_scale"), c.flag("recompute")));
    pipeline::add_tied_gradients(c.comm(), own.stage);
    // A single stage has one copy of the token embedding, with head and lookup apart as in lesson 02.
    for (const FlatEntry& entry : own.flat.layout().entries) merge_second_gradient(*entry.parameter);
    c.stop_measuring();
    for (const FlatEntry& entry : own.flat.layout().entries)
        c.put("gradient " + entry.parameter->name, entry.parameter->gradient);
}

inline void probes(Case& c)
{
    run_probes(c, schedule_of(c));
}

inline void gpt(Case& c)
{
    run_gpt(c, schedule_of(c));
}

}  // namespace pipeline_test
