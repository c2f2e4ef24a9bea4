// Case operations on stages: what they hold, what their passes give, and the tied embedding's gradients.
#pragma once

#include <optional>

#include "lessons/02_training_step/accumulation.hpp"
#include "lessons/06_pipeline/stage.hpp"
#include "tests/06_pipeline/driver_schedule.hpp"
#include "tests/06_pipeline/parameters.hpp"

namespace pipeline_test {

/// A stage with the memory of its parameters, initialised.
struct StageWithMemory {
    pipeline::Stage stage;
    FlatParameters flat;

    StageWithMemory(Device& device, pipeline::Stage made, DType dtype)
        : stage(std::move(made)), flat(device, make_flat_layout(parameters_of(stage.modules), 1), dtype)
    {
        for (const FlatEntry& entry : flat.layout().entries) initialise(*entry.parameter, initial_seed);
    }
};

inline std::vector<std::int64_t> blocks_of(Case& c)
{
    const std::vector<double> blocks = c.numbers("blocks");
    return {blocks.begin(), blocks.end()};
}

inline StageWithMemory stage_with_memory(Case& c, int stage)
{
    return {c.device(),
            pipeline::make_stage(pipeline::gpt_parts(shape_of(c)), blocks_of(c),
                                 static_cast<int>(c.integer("stages")), stage),
            parse_dtype(c.text("dtype"))};
}

/// "wte.weight,wpe.weight; h.0.ln_1.weight,…": the parameters of every module.
inline std::string modules_text(const Modules& modules)
{
    std::string text;
    for (const auto& module : modules) {
        if (!text.empty()) text += "; ";
        for (bool first = true; const Parameter* parameter : module->parameters()) {
            text += (first ? "" : ",") + parameter->name;
            first = false;
        }
    }
    return text;
}

/// What is wrong with the parameter that stands for the tied embedding; empty: nothing.
inline std::string tied_problem(const pipeline::Stage& stage)
{
    for (const auto& module : stage.modules)
        for (const Parameter* parameter : module->parameters())
            if (stage.tied_embedding != nullptr && parameter->name == "wte.weight" &&
                parameter != stage.tied_embedding)
                return "two of its modules have different parameters called wte.weight";
    return "";
}

inline void stages(Case& c)
{
    for (int s = 0; s < c.integer("stages"); ++s) {
        const StageWithMemory one = stage_with_memory(c, s);
        std::vector<double> chunks;
        for (const pipeline::ModuleRange& range : one.stage.chunks) {
            chunks.push_back(static_cast<double>(range.first));
            chunks.push_back(static_cast<double>(range.last));
        }
        std::string parameters;
        for (const FlatEntry& entry : one.flat.layout().entries)
            parameters += describe(*entry.parameter) + "\n";
        c.put(fmt::format("modules {}", s), modules_text(one.stage.modules));
        c.put(fmt::format("chunks {}", s), chunks);
        c.put(fmt::format("parameters {}", s), parameters);
        c.put(fmt::format("values {}", s), one.flat.values());
        c.put(fmt::format("tied {}", s),
              one.stage.tied_embedding == nullptr ? "" : one.stage.tied_embedding->name);
        c.put(fmt::format("tied problem {}", s), tied_problem(one.stage));
        c.put(fmt::format("tied peer {}", s), static_cast<double>(one.stage.tied_peer));
    }
}

/// Forward and backward of micro-batches through the chunks of all stages, here on one device.
inline void stage_passes(Case& c)
{
    const auto count = static_cast<std::size_t>(c.integer("stages"));
    std::vector<std::optional<StageWithMemory>> all(count);
    for (std::size_t s = 0; s < count; ++s) all[s].emplace(stage_with_memory(c, static_cast<int>(s)));
    std::vector<Module*> chain;
    for (std::size_t chunk = 0; chunk < blocks_of(c).size(); ++chunk) {
        const pipeline::Stage& stage = all[chunk % count]->stage;
        check(chunk / count < stage.chunks.size(), "stage {} has {} chunks", chunk % count,
              stage.chunks.size());
        const pipeline::ModuleRange range = stage.chunks[chunk / count];
        for (std::size_t i = range.first; i < range.last; ++i) chain.push_back(stage.modules.at(i).get());
    }
    const std::vector<std::int32_t> inputs = c.ids("inputs"), targets = c.ids("targets");
    const MicroBatch batch{c.integer("sequences"), c.integer("tokens"), inputs, targets, 0.0, 0};
    double loss = 0.0;
    for (const MicroBatch& part : training::split_batch(batch, c.integer("micro_batches"))) {
        std::vector<Saved> saved(chain.size());
        Tensor x;
        for (std::size_t i = 0; i < chain.size(); ++i) x = chain[i]->forward(part, std::move(x), saved[i]);
        loss += x.span<double>()[0];
        x.span<double>()[0] = 1.0;
        for (std::size_t i = chain.size(); i-- > 0;) x = chain[i]->backward(part, std::move(x), saved[i]);
    }
    c.put("loss", loss);
    for (std::size_t s = 0; s < count; ++s) {
        for (const FlatEntry& entry : all[s]->flat.layout().entries) {
            const Parameter& parameter = *entry.parameter;
            c.put(fmt::format("gradient {} of stage {}", parameter.name, s), parameter.gradient);
            if (!parameter.second_gradient.empty())
                c.put(fmt::format("second gradient {} of stage {}", parameter.name, s),
                      parameter.second_gradient);
        }
    }
}

inline void stage_refused(Case& c)
{
    put_refusal(c, [&] {
        pipeline::make_stage(pipeline::gpt_parts(shape_of(c)), blocks_of(c),
                             static_cast<int>(c.integer("stages")), 0);
    });
}

/// On a stage that has nothing but its copy of the tied embedding, or not even that.
inline void add_tied_gradients(Case& c)
{
    Comm group = c.comm().split(static_cast<int>(c.integer("color")), static_cast<int>(c.integer("key")));
    Parameter weight;
    pipeline::Stage stage;
    if (c.flag("tied")) {
        weight.gradient = c.tensor("gradient", Category::gradients);
        stage.tied_embedding = &weight;
        stage.tied_peer = static_cast<int>(c.integer("peer"));
    }
    c.start_measuring();
    pipeline::add_tied_gradients(group, stage);
    c.stop_measuring();
    if (c.flag("tied")) c.put("gradient", weight.gradient);
}

}  // namespace pipeline_test
