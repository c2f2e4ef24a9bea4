// A small GPT in a pipeline as a case: losses and gradients must be bitwise a single process's.
#pragma once

#include "tests/06_pipeline/gpt_reference.hpp"
#include "tests/06_pipeline/schedule_support.hpp"

namespace pipeline_test {

struct GptRun {
    std::string name;
    int stages = 1;
    int micro_batches = 1;
    std::vector<std::int64_t> blocks;  // of every chunk of the model
    DType dtype = DType::fp32;
    bool recompute = false;
    std::int64_t masked = 0;  // targets that do not count
    double loss_scale = 1.0;
    json schedule{};  // further inputs: the schedule, or how it is made

    std::int64_t layers() const
    {
        std::int64_t sum = 0;
        for (const std::int64_t count : blocks) sum += count;
        return sum;
    }
    ModelShape shape() const { return {layers(), 8, 2, 3, 13}; }
    Batch batch() const { return make_batch(2 * micro_batches, micro_batches, shape(), masked); }
};

/// What lesson 02's accumulate_gradients gives for it on one device.
struct GptExpected {
    Gpt gpt;
    double loss;

    explicit GptExpected(const GptRun& run) : gpt(run.shape(), run.dtype)
    {
        const Batch batch = run.batch();
        loss = training::accumulate_gradients(
            gpt.modules, training::split_batch(batch.whole(), batch.micro_batches), run.loss_scale);
    }
};

/// Which stage has a parameter: the last one too, of the token embedding.
inline bool is_on_stage(const GptRun& run, const std::string& name, int stage)
{
    if (name == "wte.weight") return stage == 0 || stage == run.stages - 1;
    if (name == "wpe.weight") return stage == 0;
    if (!name.starts_with("h.")) return stage == run.stages - 1;
    std::int64_t layer = std::stoll(name.substr(2));
    int chunk = 0;
    while (layer >= run.blocks[static_cast<std::size_t>(chunk)])
        layer -= run.blocks[static_cast<std::size_t>(chunk++)];
    return chunk % run.stages == stage;
}

inline std::vector<std::string> compare_gpt_stage(const GptRun& run, const GptExpected& expected, int stage,
                                                  const RankResult& result)
{
    const json& out = result.outputs;
    const double loss = stage == run.stages - 1 ? expected.loss : 0.0;
    std::vector<std::string> messages;
    for (const std::string name : {"loss", "forward loss"})
        messages.push_back(compare_number(fmt::format("the {}", name), out.at(name).get<double>(), loss, {}));
    for (const FlatEntry& entry : expected.gpt.flat.layout().entries) {
        const std::string& name = entry.parameter->name;
        if (is_on_stage(run, name, stage))
            messages.push_back(compare("the gradient of " + name, out.value("gradient " + name, json()),
                                       entry.parameter->gradient, {}));
    }
    const auto left = result.measured.at("current").get<std::uint64_t>();
    const auto begin = result.measured.at("begin").get<std::uint64_t>();
    if (left != begin)
        messages.push_back(fmt::format("{} bytes are in use at the end, {} were at the begin", left, begin));
    std::erase(messages, "");
    for (std::string& message : messages) message = fmt::format("stage {}: {}", stage, message);
    return messages;
}

/// The case of operation `operation` of the driver.
inline NamedCase gpt_case(const GptRun& run, const std::string& operation)
{
    json inputs = shape_inputs(run.shape());
    inputs.update(run.batch().as_json());
    inputs.update({{"blocks", run.blocks},
                   {"dtype", name_of(run.dtype)},
                   {"loss_scale", run.loss_scale},
                   {"recompute", run.recompute},
                   {"stages", run.stages}});
    inputs.update(run.schedule);
    CaseInput input;
    input.operation = operation;
    input.ranks.assign(static_cast<std::size_t>(run.stages), inputs);
    return {run.name, input,
            [=](const CaseResult& result) {
                const GptExpected expected(run);
                std::vector<std::string> messages;
                for (int s = 0; s < run.stages; ++s)
                    for (std::string& message :
                         compare_gpt_stage(run, expected, s, result.ranks[static_cast<std::size_t>(s)]))
                        messages.push_back(std::move(message));
                return messages;
            },
            if_engine_stuck};
}

/// One block in every chunk, one more in every second.
inline std::vector<std::int64_t> uneven_blocks(int chunks)
{
    std::vector<std::int64_t> blocks(static_cast<std::size_t>(chunks), 1);
    for (std::size_t c = 1; c < blocks.size(); c += 2) ++blocks[c];
    return blocks;
}

/// "P = 3, M = 4, V = 1, bf16, recomputed, 5 targets masked".
inline std::string gpt_name(const GptRun& run)
{
    return fmt::format("P = {}, M = {}, V = {}, {}{}, {} targets masked", run.stages, run.micro_batches,
                       run.blocks.size() / static_cast<std::size_t>(run.stages), name_of(run.dtype),
                       run.recompute ? ", recomputed" : "", run.masked);
}

}  // namespace pipeline_test
