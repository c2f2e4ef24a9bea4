// 08.4 Some steps of AdamW: what every rank has stays bitwise the same, and all of it is the single
// process's.
#include "lessons/02_training_step/mixed_precision.hpp"
#include "tests/08_tensor_parallel/model_runs.hpp"

using namespace tensor_parallel_test;

namespace {

constexpr std::int64_t steps = 6;
constexpr double learning_rate = 1e-2;

json step_input(const GptRun& run)
{
    json input = run.input();
    input.update({{"steps", steps}, {"learning_rate", learning_rate}});
    return input;
}

/// The same steps by lesson 02 on lesson 01's model.
std::vector<double> single_losses(const GptRun& run)
{
    Device device{DeviceOptions{}};
    const Modules modules = transformer::make_gpt(run.shape);
    FlatParameters flat(device, make_flat_layout(parameters_of(modules), 1), run.at.dtype);
    for (const FlatEntry& entry : flat.layout().entries) initialise(*entry.parameter, run.seed);
    training::OptimizerStates states = training::make_optimizer_states(flat.values());
    training::AdamW adamw;
    adamw.learning_rate = learning_rate;
    const GptBatch batch(run);
    std::vector<double> losses;
    for (std::int64_t step = 1; step <= steps; ++step) {
        flat.gradients().fill_zero();
        losses.push_back(training::accumulate_gradients(modules, batch.parts(), 1.0));
        training::update_parameters(adamw, 0.0, nullptr, flat, states);
    }
    return losses;
}

/// fp64: AdamW moves a weight by about learning_rate · m / sqrt(v), so a relative difference of its
/// gradients, 2e-14 as in model_test.cpp, moves it by 1e-2 times that in a step: losses stay within 1e-12.
std::vector<std::string> check_losses(const GptRun& run, const CaseResult& result)
{
    const std::vector<double> expected = single_losses(run);
    std::vector<std::string> messages;
    for (int rank = 0; rank < run.at.group.p; ++rank) {
        const auto losses = run.at.group.at(result, rank).outputs.at("losses").get<std::vector<double>>();
        for (std::size_t i = 0; i < expected.size(); ++i)
            messages.push_back(on_rank(rank, compare_number(fmt::format("the loss of step {}", i + 1),
                                                            losses[i], expected[i], {1e-12, 0.0})));
    }
    return messages;
}

std::vector<std::string> check_steps(const GptRun& run, const CaseResult& result)
{
    std::vector<std::string> messages{compare_on_all("losses", result)};
    for (const auto& module : transformer::make_gpt(run.shape))
        for (const Parameter* parameter : module->parameters()) {
            const Slice slice = slice_of(result.ranks[0].outputs, parameter->name);
            if (slice.shape == slice.global)
                messages.push_back(compare_on_all("value " + parameter->name, result));
        }
    if (run.at.dtype == DType::fp64) append(messages, check_losses(run, result));
    return messages;
}

}  // namespace

TEST_CASE("08.4 make_gpt: after some steps of AdamW what is replicated is bitwise the same", "[08.4]")
{
    std::vector<NamedCase> cases;
    for (const int p : {1, 2, 3, 4, 8}) {
        std::vector<GptRun> runs{exact_runs(p)[0], exact_runs(p)[1]};
        for (const GptRun& run : rounded_runs(p)) runs.push_back(run);
        for (const GptRun& run : runs) {
            const std::vector<json> inputs(static_cast<std::size_t>(p), step_input(run));
            cases.push_back({run.name(), run.at.group.input("gpt_steps", inputs),
                             [=](const CaseResult& result) { return check_steps(run, result); }});
        }
    }
    run_and_check("model", cases, 10.0);
}
