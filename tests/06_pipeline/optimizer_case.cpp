#include "tests/06_pipeline/optimizer_case.hpp"

#include <bit>

#include "lessons/02_training_step/clipping.hpp"
#include "lessons/04_data_parallel/optimizer.hpp"
#include "lessons/06_pipeline/stage.hpp"
#include "tests/06_pipeline/gpt_case.hpp"
#include "tests/06_pipeline/step_gradient.hpp"

using namespace pipeline_test;
using data_parallel::Bucket;

namespace {

constexpr double learning_rate = 3e-2;
constexpr double first_scale = 1024.0;

std::uint64_t gradient_seed(const OptimizerRun& run)
{
    return static_cast<std::uint64_t>(std::abs(random_values(run.name, 1, DType::fp64, 1e9)[0]));
}

StepGradient gradient_of(const OptimizerRun& run, std::int64_t step, double scale)
{
    return {gradient_seed(run), step, scale, step == run.overflow_step ? run.overflow : ""};
}

/// What a single process comes to.
struct Trained {
    Gpt gpt;
    std::vector<double> norms, skipped, scales;

    explicit Trained(const OptimizerRun& run);
};

/// Σ g² of every parameter of the model, one after the other and of each its segments in the order of their
/// owners, as the stages' buckets cut it; behind the number of overflows.
std::vector<double> terms_of(const OptimizerRun& run, const Gpt& gpt)
{
    std::map<std::string, std::vector<double>> squares;
    for (int s = 0; s < run.stages; ++s) {
        const pipeline::Stage stage =
            pipeline::make_stage(pipeline::gpt_parts(run.shape()), run.blocks(), run.stages, s);
        for (const Bucket& bucket :
             data_parallel::make_buckets(stage.modules, run.dp, run.dtype, run.bucket_bytes))
            for (const data_parallel::Segment& segment : data_parallel::segments_of(bucket, run.dp)) {
                if (segment.parameter == stage.tied_embedding && s > 0) continue;
                for (const FlatEntry& entry : gpt.flat.layout().entries)
                    if (entry.parameter->name == segment.parameter->name)
                        squares[segment.parameter->name].push_back(training::sum_of_squares(
                            std::as_const(entry.parameter->gradient)
                                .buffer()
                                .part(segment.offset - segment.parameter_offset, segment.count)));
            }
    }
    std::vector<double> terms{training::has_overflow(std::as_const(gpt.flat.gradients()).buffer()) ? 1.0
                                                                                                   : 0.0};
    for (const FlatEntry& entry : gpt.flat.layout().entries)
        for (const double square : squares.at(entry.parameter->name)) terms.push_back(square);
    return terms;
}

/// With one replica this is lesson 02's step; with several the norm's terms are cut as the shards are.
training::UpdateResult update(const OptimizerRun& run, Gpt& gpt, const training::AdamW& adamw,
                              training::LossScale* scale, training::OptimizerStates& states)
{
    if (run.dp == 1) return training::update_parameters(adamw, run.max_norm, scale, gpt.flat, states);
    const FlatLayout& layout = gpt.flat.layout();
    const Bucket whole{0, gpt.modules.size(), layout.entries, layout.elements, layout.padded};
    const auto view = [&](Tensor& tensor) { return tensor.view(0, {layout.padded}); };
    std::vector<data_parallel::OptimizerPart> parts;
    parts.push_back(
        {&whole, {0, layout.padded}, view(gpt.flat.values()), view(gpt.flat.gradients()), &states});
    return data_parallel::update_parts(adamw, run.max_norm, scale, terms_of(run, gpt), parts);
}

Trained::Trained(const OptimizerRun& run) : gpt(run.shape(), run.dtype)
{
    const training::AdamW adamw{learning_rate, 0.9, 0.95, 1e-8, 0.1};
    training::LossScale scale{run.scaled ? first_scale : 1.0, 0, 2, 16777216.0, 1.0};
    training::OptimizerStates states = training::make_optimizer_states(gpt.flat.values());
    for (std::int64_t step = 0; step < run.steps; ++step) {
        for (const FlatEntry& entry : gpt.flat.layout().entries)
            set_gradient(gradient_of(run, step, scale.scale), entry.parameter->name,
                         entry.parameter->gradient);
        const training::UpdateResult result = update(run, gpt, adamw, run.scaled ? &scale : nullptr, states);
        norms.push_back(result.gradient_norm);
        skipped.push_back(result.skipped ? 1.0 : 0.0);
        scales.push_back(scale.scale);
    }
}

std::string compare_steps(const char* name, const json& got, const std::vector<double>& expected)
{
    const auto values = got.get<std::vector<double>>();
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (values.at(i) != expected[i]) {
            const double ratio = values[i] / expected[i];
            return compare_number(fmt::format("step {}: {}", i + 1, name), values[i], expected[i], {}) +
                   (std::abs(ratio - 1.0) < 1e-12 ? ": are the terms added in the model's order?" : "");
        }
    return "";
}

std::string compare_skipped(const json& got, const std::vector<double>& expected)
{
    const auto values = got.get<std::vector<double>>();
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (values.at(i) != expected[i])
            return fmt::format("step {} is {}, expected it to be {}: all ranks must agree on an overflow",
                               i + 1, values[i] != 0.0 ? "skipped" : "done",
                               expected[i] != 0.0 ? "skipped" : "done");
    return "";
}

/// Recursive doubling of one list over 2^k ranks: k messages of 1 + parameters numbers a step.
std::string compare_messages(const OptimizerRun& run, const Trained& trained, const RankResult& result)
{
    const auto ranks = static_cast<unsigned>(run.stages);
    if (run.dp > 1 || !std::has_single_bit(ranks)) return "";
    const auto messages = static_cast<std::uint64_t>(run.steps * (std::bit_width(ranks) - 1));
    const std::uint64_t bytes = messages * 8 * (1 + trained.gpt.flat.layout().entries.size());
    const auto sent = result.measured.at("messages").get<std::uint64_t>();
    const auto sent_bytes = result.measured.at("bytes").get<std::uint64_t>();
    if (sent == messages && sent_bytes == bytes) return "";
    return fmt::format("{} messages with {} bytes were sent, expected {} with {}", sent, sent_bytes, messages,
                       bytes);
}

std::vector<std::string> compare_rank(const OptimizerRun& run, const Trained& trained, int stage,
                                      const RankResult& result)
{
    const json& out = result.outputs;
    std::vector<std::string> messages{compare_skipped(out.at("skipped"), trained.skipped),
                                      compare_steps("the gradient norm", out.at("norms"), trained.norms),
                                      compare_steps("the loss scale", out.at("scales"), trained.scales),
                                      compare_messages(run, trained, result)};
    GptRun placed;
    placed.stages = run.stages;
    placed.blocks = run.blocks();
    for (const FlatEntry& entry : trained.gpt.flat.layout().entries) {
        const std::string& name = entry.parameter->name;
        if (is_on_stage(placed, name, stage))
            messages.push_back(compare("the value of " + name, out.value("value " + name, json()),
                                       entry.parameter->value, {}));
    }
    const auto begin = result.measured.at("begin").get<std::uint64_t>();
    const auto current = result.measured.at("current").get<std::uint64_t>();
    if (current != begin)
        messages.push_back(
            fmt::format("{} bytes are in use after the steps, {} were before", current, begin));
    return messages;
}

}  // namespace

std::vector<std::int64_t> OptimizerRun::blocks() const
{
    return uneven_blocks(stages);
}

ModelShape OptimizerRun::shape() const
{
    std::int64_t layers = 0;
    for (const std::int64_t count : blocks()) layers += count;
    return {layers, 6, 2, 5, 9};
}

NamedCase pipeline_test::optimizer_case(const OptimizerRun& run)
{
    json inputs = shape_inputs(run.shape());
    std::string names;
    const Modules whole = transformer::make_gpt(run.shape());
    for (const Parameter* parameter : parameters_of(whole)) names += parameter->name + " ";
    inputs.update({{"stages", run.stages},
                   {"zero", run.zero},
                   {"blocks", run.blocks()},
                   {"dtype", name_of(run.dtype)},
                   {"bucket_bytes", run.bucket_bytes},
                   {"names", names},
                   {"learning_rate", learning_rate},
                   {"max_norm", run.max_norm},
                   {"scaled", run.scaled},
                   {"scale", run.scaled ? first_scale : 1.0},
                   {"steps", run.steps},
                   {"seed", gradient_seed(run)},
                   {"overflow", run.overflow},
                   {"overflow_step", run.overflow_step}});
    CaseInput input;
    input.operation = "pipeline_optimizer";
    for (int rank = 0; rank < run.stages * run.dp; ++rank) {
        inputs["pp_rank"] = rank / run.dp;
        inputs["dp_rank"] = rank % run.dp;
        input.ranks.push_back(inputs);
    }
    return {run.name, input, [=](const CaseResult& result) {
                const Trained trained(run);
                std::vector<std::string> messages;
                for (int rank = 0; rank < run.stages * run.dp; ++rank)
                    for (const std::string& message : compare_rank(
                             run, trained, rank / run.dp, result.ranks[static_cast<std::size_t>(rank)]))
                        messages.push_back(on_rank(rank, message));
                return messages;
            }};
}
