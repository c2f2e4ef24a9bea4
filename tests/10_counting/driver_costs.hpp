// Activations and seconds of a case's job, predicted and real.
#pragma once

#include "lessons/10_counting/activations.hpp"
#include "lessons/10_counting/time.hpp"
#include "tests/10_counting/driver_real.hpp"

namespace counting_test {

inline Topology topology_of(Case& c)
{
    Topology topology;
    topology.nodes = static_cast<int>(c.integer("nodes"));
    topology.devices_per_node = static_cast<int>(c.integer("devices_per_node"));
    topology.intra = {c.number("intra_latency"), c.number("intra_bandwidth")};
    topology.inter = {c.number("inter_latency"), c.number("inter_bandwidth")};
    topology.flops = c.number("flops");
    return topology;
}

/// What the function "what" says of a stage, a tensor-parallel rank and a chunk.
inline void one_activation(Case& c)
{
    const counting::Job job = job_of(c);
    const std::string what = c.text("what");
    const int stage = static_cast<int>(c.integer("stage"));
    const counting::Place place{stage, static_cast<int>(c.integer("tensor_rank"))};
    const int chunk = static_cast<int>(c.integer("chunk"));
    double number = 0.0;
    if (what == "saved_by_block") number = static_cast<double>(counting::saved_by_block(job));
    if (what == "saved_by_chunk") number = static_cast<double>(counting::saved_by_chunk(job, place, chunk));
    if (what == "passes_in_flight") number = counting::passes_in_flight(job, stage);
    if (what == "saved_activations") number = static_cast<double>(counting::saved_activations(job, place));
    if (what == "megatron_saved_by_block") number = counting::megatron_saved_by_block(job);
    if (what == "megatron_activations") number = counting::megatron_activations(job);
    c.put("number", number);
}

/// A single stage's modules, with what they recompute by themselves.
inline RealStage real_stage(Case& c, const counting::Job& job)
{
    RealStage real(c, job, 0);
    if (job.recompute == counting::Recompute::full)
        for (std::size_t i = 1; i + 1 < real.stage.modules.size(); ++i)
            real.stage.modules[i] = training::make_recomputed(std::move(real.stage.modules[i]));
    return real;
}

/// Outputs "predicted" and "kept", the bytes of activations between the forward and the backward pass, but
/// for the loss.
inline void real_activations(Case& c)
{
    const counting::Job job = job_of(c);
    c.put("predicted", static_cast<double>(counting::saved_by_chunk(job, {0, c.comm().rank()}, 0)));
    RealStage real = real_stage(c, job);
    run_micro_batch(c, job, real.stage.modules, [&](const Tensor& loss) {
        const std::uint64_t held = c.device().memory().current_of(Category::activations);
        c.put("kept", static_cast<double>(held - loss.buffer().bytes()));
    });
}

inline void put_pass(Case& c, const std::string& name, const counting::PassSeconds& pass)
{
    c.put(name, std::vector<double>{pass.compute, pass.tensor, pass.fetch});
}

inline void modules(Case& c)
{
    const counting::Job job = job_of(c);
    const Topology topology = topology_of(c);
    for (const bool forward : {true, false}) {
        const counting::ModuleSeconds seconds = forward ? counting::forward_of_modules(job, topology)
                                                        : counting::backward_of_modules(job, topology);
        const std::string pass = forward ? "forward" : "backward";
        put_pass(c, "embedding " + pass, seconds.embedding);
        put_pass(c, "block " + pass, seconds.block);
        put_pass(c, "head " + pass, seconds.head);
    }
}

inline void passes(Case& c)
{
    const counting::Job job = job_of(c);
    const Topology topology = topology_of(c);
    for (int stage = 0; stage < job.layout.pp; ++stage)
        for (int chunk = 0; chunk < job.layout.virtual_stages; ++chunk) {
            const std::string name = fmt::format("stage {} chunk {}", stage, chunk);
            put_pass(c, name + " forward", counting::forward_seconds(job, topology, stage, chunk));
            put_pass(c, name + " backward", counting::backward_seconds(job, topology, stage, chunk));
        }
}

/// Outputs "predicted"; the real passes' time is measured.
inline void real_seconds(Case& c)
{
    const counting::Job job = job_of(c);
    const Topology& topology = c.device().topology();
    c.put("predicted", counting::forward_seconds(job, topology, 0, 0).total() +
                           counting::backward_seconds(job, topology, 0, 0).total());
    RealStage real = real_stage(c, job);
    run_micro_batch(c, job, real.stage.modules);
}

inline void ring_time(Case& c)
{
    c.put("number", counting::ring_seconds({c.number("latency"), c.number("bandwidth")}, c.integer("n"),
                                           c.integer("size"), static_cast<int>(c.integer("p"))));
}

inline void message_time(Case& c)
{
    c.put("number", counting::message_seconds(job_of(c), topology_of(c)));
}

/// A pass of each stage and chunk takes what the case says: "forward" and "backward", stage by stage.
inline void pipeline_time(Case& c)
{
    const counting::Job job = job_of(c);
    const std::vector<double> forward = c.numbers("forward"), backward = c.numbers("backward");
    const auto chunks = static_cast<std::size_t>(job.layout.virtual_stages);
    counting::StageSeconds seconds(forward.size() / chunks);
    for (std::size_t i = 0; i < forward.size(); ++i) seconds[i / chunks].push_back({forward[i], backward[i]});
    c.put("number", counting::pipeline_seconds(job, seconds, c.number("message")));
}

inline void bubble(Case& c)
{
    c.put("number", counting::bubble_fraction(job_of(c)));
}

inline void data_time(Case& c)
{
    c.put("number", counting::data_seconds(job_of(c), topology_of(c)));
}

inline void step_time(Case& c)
{
    for (const bool walks : {false, true}) {
        const counting::StepTime time = counting::step_time(job_of(c), topology_of(c), walks);
        c.put(walks ? "walked" : "by formula", std::vector<double>{time.compute, time.tensor, time.data,
                                                                   time.bubble, time.pipeline, time.control});
    }
}

inline void useful_flops(Case& c)
{
    const counting::Job job = job_of(c);
    c.put("model", counting::model_flops(job));
    c.put("hardware", counting::hardware_flops(job));
}

}  // namespace counting_test
