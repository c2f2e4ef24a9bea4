#include "tests/02_training_step/support.hpp"

using namespace training_test;

namespace {

constexpr std::int64_t elements = 300;  // of every tensor of the chain
constexpr std::uint64_t tensor_bytes = elements * 8;

struct Chain {
    std::int64_t modules, kept;
};

/// "f1.0 f2.0 f2.0 b2.0 f1.0 b1.0": forward, then every backward pass after another forward pass.
std::string expected_calls(const Chain& chain)
{
    std::string calls;
    for (std::int64_t i = 1; i <= chain.modules; ++i) calls += fmt::format("f{}.0 ", i);
    for (std::int64_t i = chain.modules; i >= 1; --i) calls += fmt::format("f{0}.0 b{0}.0 ", i);
    calls.pop_back();
    return calls;
}

std::vector<std::string> check_chain(const Chain& chain, const RankResult& result)
{
    const auto number = [&](const char* name) { return result.measured.at(name).get<std::uint64_t>(); };
    const auto held = static_cast<std::uint64_t>(result.outputs.at("held").get<double>());
    const auto forward_peak = static_cast<std::uint64_t>(result.outputs.at("forward_peak").get<double>());
    const auto modules = static_cast<std::uint64_t>(chain.modules);
    const auto kept = static_cast<std::uint64_t>(chain.kept);
    std::vector<std::string> messages;
    // The modules' inputs and the last output.
    if (held != (modules + 1) * tensor_bytes)
        messages.push_back(
            fmt::format("after the forward pass {} bytes are held, expected {}: the {} modules' "
                        "inputs and the last output, without what the modules saved",
                        held, (modules + 1) * tensor_bytes, modules));
    // Beside those, what the last module saved until it was dropped.
    else if (forward_peak > (modules + 1 + kept) * tensor_bytes)
        messages.push_back(
            fmt::format("the forward pass needed {} bytes, expected {}: the modules' inputs, what one "
                        "module saves, and its output; is x there twice? A view shares its memory",
                        forward_peak, (modules + 1 + kept) * tensor_bytes));
    for (const double saved : result.outputs.at("saved_tensors").get<std::vector<double>>())
        if (saved != 1.0) {
            messages.push_back(fmt::format("forward left {} tensors on `saved`, expected only x", saved));
            break;
        }
    for (const double left : result.outputs.at("left_tensors").get<std::vector<double>>())
        if (left != 0.0) {
            messages.push_back(fmt::format(
                "backward left `saved` with {:+} tensors against what was there before forward", left));
            break;
        }
    const auto calls = result.outputs.at("calls").get<std::string>();
    if (calls != expected_calls(chain))
        messages.push_back(
            fmt::format("the modules were called in the order {}, expected {} (f: forward, b: "
                        "backward, and the module)",
                        calls, expected_calls(chain)));
    // While one module runs again: what it saves, and its y.
    if (number("peak") > number("begin") + (kept + 1) * tensor_bytes)
        messages.push_back(
            fmt::format("the backward pass needed {} bytes more, expected {}: what one module "
                        "saves, and its output",
                        number("peak") - number("begin"), (kept + 1) * tensor_bytes));
    if (number("current") != number("begin") - modules * tensor_bytes)
        messages.push_back(fmt::format("after the backward pass {} bytes are in use, expected {}",
                                       number("current"), number("begin") - modules * tensor_bytes));
    return messages;
}

NamedCase chain_case(const Chain& chain)
{
    return {fmt::format("{} modules that save {} tensors each", chain.modules, chain.kept),
            one_rank("recomputed_chain",
                     {{"modules", chain.modules}, {"elements", elements}, {"kept", chain.kept}}),
            [=](const RankResult& result) { return check_chain(chain, result); }};
}

struct BlockRun {
    DType dtype;
    std::int64_t sequences, tokens, hidden, heads;
};

std::vector<std::string> check_block(const RankResult& result)
{
    const json& out = result.outputs;
    std::vector<std::string> messages;
    for (const std::string name : {"y", "dx", "gradients"})
        messages.push_back(compare(name, out.at("recomputed " + name), out.at("plain " + name), {}));
    const auto flops = [&](const char* name) { return out.at(name).get<double>(); };
    const double forward = flops("plain forward flops");
    const double backward = flops("plain backward flops");
    messages.push_back(
        compare_number("the FLOPs of forward", flops("recomputed forward flops"), forward, {}));
    messages.push_back(compare_number("the FLOPs of backward (forward once more, then backward)",
                                      flops("recomputed backward flops"), forward + backward, {}));
    // A product forward is two backward: with recomputation 4 of every 3.
    messages.push_back(
        compare_number("the block's backward FLOPs without recomputation", backward, 2.0 * forward, {}));
    return messages;
}

NamedCase block_case(const BlockRun& run)
{
    const std::int64_t h = run.hidden;
    const std::int64_t parameters = 12 * h * h + 13 * h;
    const Shape shape{run.sequences, run.tokens, h};
    const std::string name = fmt::format("{}, {} sequences of {} tokens, hidden {}, {} heads",
                                         name_of(run.dtype), run.sequences, run.tokens, h, run.heads);
    json inputs = {
        {"dtype", name_of(run.dtype)}, {"sequences", run.sequences},
        {"tokens", run.tokens},        {"hidden", h},
        {"heads", run.heads},          {"gradients", random_values(name + " g", parameters, run.dtype)}};
    for (const char* tensor : {"x", "dy"})
        inputs[tensor] = tensor_input(
            shape, run.dtype, random_values(name + tensor, run.sequences * run.tokens * h, run.dtype));
    return {name, one_rank("recomputed_block", inputs), check_block};
}

}  // namespace

TEST_CASE("02.5 make_recomputed: saves only x, and runs forward again", "[02.5]")
{
    run_and_check("recomputation", {chain_case({1, 3}), chain_case({4, 2}), chain_case({3, 7})});
}

TEST_CASE("02.5 make_recomputed: bitwise the same output and gradients, 4/3 of the FLOPs", "[02.5]")
{
    std::vector<NamedCase> cases;
    for (const DType dtype : all_dtypes) cases.push_back(block_case({dtype, 2, 5, 6, 2}));
    cases.push_back(block_case({DType::fp32, 1, 1, 4, 1}));
    cases.push_back(block_case({DType::bf16, 3, 16, 16, 4}));
    run_and_check("recomputation", cases);
}
