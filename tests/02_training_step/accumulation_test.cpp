#include "lessons/02_training_step/accumulation.hpp"

#include <sstream>

#include "lessons/01_transformer/model.hpp"
#include "tests/02_training_step/batch.hpp"

using namespace training_test;

namespace {

// --- probes -----------------------------------------------------------------------------------------------

struct Chain {
    Batch batch;
    std::int64_t modules = 3;
    double loss_scale = 1.0;
    bool evaluate = false;
};

constexpr std::int64_t elements = 512;  // of every probe's tensors
constexpr std::int64_t kept = 2;

std::string call_text(const std::string& call)
{
    const auto dot = call.find('.');
    return fmt::format("the {} pass of module {} on micro-batch {}", call[0] == 'f' ? "forward" : "backward",
                       call.substr(1, dot - 1), call.substr(dot + 1));
}

std::string expected_calls(const Chain& chain)
{
    std::string calls;
    for (std::int64_t m = 0; m < chain.batch.micro_batches; ++m) {
        for (std::int64_t i = 0; i < chain.modules; ++i) calls += fmt::format("f{}.{} ", i, m);
        for (std::int64_t i = chain.modules; i-- > 0 && !chain.evaluate;)
            calls += fmt::format("b{}.{} ", i, m);
    }
    calls.pop_back();
    return calls;
}

std::string compare_calls(const std::string& got, const std::string& expected)
{
    std::istringstream got_calls(got), expected_calls(expected);
    std::string one, other;
    for (int number = 1; expected_calls >> other; ++number) {
        if (!(got_calls >> one))
            return fmt::format("{} calls were made; then {} was expected", number - 1, call_text(other));
        if (one != other)
            return fmt::format("call number {} is {}, expected {}", number, call_text(one), call_text(other));
    }
    return got_calls >> one ? fmt::format("after all calls that were expected came {}", call_text(one)) : "";
}

/// Numbers that a float cannot add without rounding, so that every order of adding gives another sum.
const std::vector<double> head_gradients{16777216.0, 3.0, -16777213.0, 5.0};
const std::vector<double> lookup_gradients{2.0, 16777215.0, 7.0, -9.0};

float accumulated(float gradient, std::int64_t micro_batches)
{
    float second = 0.0F;
    for (std::size_t i = 0; i < static_cast<std::size_t>(micro_batches); ++i) {
        gradient += static_cast<float>(head_gradients[i]);
        second += static_cast<float>(lookup_gradients[i]);
    }
    return gradient + second;
}

std::vector<std::string> check_chain(const Chain& chain, const RankResult& result)
{
    const json& out = result.outputs;
    const std::int64_t m = chain.batch.micro_batches;
    double sum = 0.0;
    for (std::size_t i = 0; i < chain.batch.inputs.size(); ++i)
        if (chain.batch.targets[i] >= 0) sum += chain.batch.inputs[i] + 1.0;
    // m sums of products, each rounded twice.
    std::vector<std::string> messages{
        compare_calls(out.at("calls").get<std::string>(), expected_calls(chain)),
        compare_number("the loss", out.at("loss").get<double>(), sum / chain.batch.counted(),
                       {4.0 * static_cast<double>(m) * unit_roundoff(DType::fp64), 0.0})};
    // What is saved of one micro-batch, one x or y more while a module is at work, and a few single numbers.
    const std::int64_t tensors = (chain.evaluate ? kept : chain.modules * kept) + 2;
    const std::string memory =
        check_memory(result, 0, static_cast<std::uint64_t>(tensors * elements) * 8 + 256);
    if (!memory.empty())
        messages.push_back(memory + (!memory.starts_with("needed") ? ""
                                     : chain.evaluate
                                         ? ": without a backward pass, nothing has to be kept but x"
                                         : ": activations of one micro-batch only are to be held at a time"));
    if (chain.evaluate) {
        messages.push_back(compare_number("the gradient", out.at("gradient").get<double>(), 0.5, {}));
        return messages;
    }
    messages.push_back(compare_list("d(objective)/d(loss), given to the head in micro-batch, list",
                                    out.at("loss_gradients"), repeated(m, chain.loss_scale)));
    const std::string gradient = compare_number("the gradient of a parameter that two modules use",
                                                out.at("gradient").get<double>(), accumulated(0.5F, m), {});
    const auto second = out.at("second_gradients").get<int>();
    if (second > 1)
        messages.push_back(fmt::format(
            "the second gradient was merged {} times, expected once, after the last micro-batch: sums in "
            "another order do not agree bitwise with other layouts",
            second));
    else if (!gradient.empty())
        messages.push_back(gradient + "; is the second gradient merged?");
    return messages;
}

NamedCase chain_case(const Chain& chain)
{
    json inputs = chain.batch.as_json();
    inputs.update({{"modules", chain.modules},
                   {"elements", elements},
                   {"kept", kept},
                   {"head", head_gradients},
                   {"lookup", lookup_gradients},
                   {"gradient", 0.5},
                   {"evaluate", chain.evaluate},
                   {"loss_scale", chain.loss_scale}});
    return {chain.batch.name(), one_rank("probe_chain", inputs),
            [=](const RankResult& result) { return check_chain(chain, result); }};
}

std::vector<NamedCase> chain_cases(bool evaluate)
{
    std::vector<NamedCase> cases;
    for (const std::int64_t micro_batches : {1, 2, 4})
        for (const double scale : {1.0, 4096.0})
            cases.push_back(
                chain_case({make_batch(4, 3, micro_batches, 5), 3 + micro_batches, scale, evaluate}));
    return cases;
}

// --- a real model -----------------------------------------------------------------------------------------

struct GptRun {
    Batch batch;
    double loss_scale = 1.0;
    bool from_zero = true;
    bool evaluate = false;
};

struct Reference {
    double loss;
    json gradients;
};

/// The whole batch at once.
Reference reference_of(const GptRun& run, const ModelShape& shape, const std::vector<double>& gradients)
{
    Device device{DeviceOptions{}};
    const Modules gpt = transformer::make_gpt(shape);
    FlatParameters flat(device, make_flat_layout(parameters_of(gpt), 1), DType::fp64);
    for (const FlatEntry& entry : flat.layout().entries) initialise(*entry.parameter, 7);
    from_doubles(gradients, flat.gradients());
    const MicroBatch whole{run.batch.sequences, run.batch.tokens, run.batch.inputs, run.batch.targets,
                           1.0 / run.batch.counted()};
    const double loss = run.evaluate
                            ? training::evaluate_loss(gpt, std::span(&whole, 1))
                            : training::accumulate_gradients(gpt, std::span(&whole, 1), run.loss_scale);
    return {loss, tensor_input(flat.gradients())};
}

NamedCase gpt_case(const GptRun& run)
{
    const ModelShape shape{2, 8, 2, run.batch.tokens, vocabulary};
    const std::vector<double> start = run.from_zero
                                          ? std::vector<double>(static_cast<std::size_t>(shape.parameters()))
                                          : random_values("start", shape.parameters(), DType::fp64);
    json inputs = run.batch.as_json();
    inputs.update({{"layers", shape.layers},
                   {"hidden", shape.hidden},
                   {"heads", shape.heads},
                   {"vocabulary", vocabulary},
                   {"gradients", start},
                   {"evaluate", run.evaluate},
                   {"loss_scale", run.loss_scale}});
    const std::string name = fmt::format("{}, loss scale {}, from {} gradients", run.batch.name(),
                                         run.loss_scale, run.from_zero ? "zero" : "other");
    return {name, one_rank("gpt", inputs), [=](const RankResult& result) {
                const Reference expected = reference_of(run, shape, start);
                // Every gradient is a sum of at most n = B T terms, none larger than 1 times the scale; in
                // two orders of adding they differ by at most 2 n u times the sum of the n terms' sizes. The
                // loss is such a sum as well.
                const auto n = static_cast<double>(run.batch.inputs.size());
                const double difference = 2.0 * n * n * unit_roundoff(DType::fp64);
                return std::vector{compare_number("the loss", result.outputs.at("loss").get<double>(),
                                                  expected.loss, {0.0, difference}),
                                   compare("gradients", result.outputs.at("gradients"), expected.gradients,
                                           {0.0, run.evaluate ? 0.0 : difference * run.loss_scale})};
            }};
}

}  // namespace

TEST_CASE("02.3 accumulate_gradients: order, memory and what the head is given", "[02.3]")
{
    run_and_check("accumulation", chain_cases(false));
}

TEST_CASE("02.3 accumulate_gradients: micro-batches add up to the batch", "[02.3]")
{
    std::vector<NamedCase> cases;
    for (const std::int64_t micro_batches : {1, 2, 4})
        for (const bool from_zero : {true, false})
            cases.push_back(gpt_case({make_batch(4, 6, micro_batches, 9), 1.0, from_zero}));
    cases.push_back(gpt_case({make_batch(3, 1, 3, 0), 1024.0, true}));
    cases.push_back(gpt_case({make_batch(1, 4, 1, 3), 0.5, true}));
    run_and_check("accumulation", cases);
}

TEST_CASE("02.3 evaluate_loss: forward only, keeping nothing", "[02.3]")
{
    std::vector<NamedCase> cases = chain_cases(true);
    for (const std::int64_t micro_batches : {1, 3})
        cases.push_back(gpt_case({make_batch(3, 5, micro_batches, 6), 1.0, false, true}));
    run_and_check("accumulation", cases);
}
