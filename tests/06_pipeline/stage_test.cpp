#include "lessons/06_pipeline/stage.hpp"

#include <numeric>

#include "tests/06_pipeline/gpt_reference.hpp"
#include "tests/06_pipeline/schedule_support.hpp"

using namespace pipeline_test;

namespace {

/// How many blocks each chunk of the model has, on how many stages.
struct Cut {
    int stages;
    std::vector<std::int64_t> blocks;

    std::size_t chunks() const { return blocks.size() / static_cast<std::size_t>(stages); }
    std::int64_t layers() const { return std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0}); }
    ModelShape shape() const { return {layers(), 8, 2, 3, 11}; }
    bool is_end(int stage) const { return stages > 1 && (stage == 0 || stage == stages - 1); }
    std::string name() const
    {
        std::string text;
        for (const std::int64_t count : blocks) text += (text.empty() ? "" : ",") + std::to_string(count);
        return fmt::format("P = {}, V = {}, blocks {}", stages, chunks(), text);
    }
    json inputs() const
    {
        json all = shape_inputs(shape());
        all.update({{"stages", stages}, {"blocks", blocks}, {"dtype", "fp32"}});
        return all;
    }
};

/// All the blocks of a model over P = 1 to 6 stages, evenly or not, one or several chunks a stage.
std::vector<Cut> cuts()
{
    return {{1, {3}},
            {1, {1, 2}},
            {2, {1, 1}},
            {2, {3, 1}},
            {2, {1, 2, 2, 1}},
            {3, {2, 1, 3}},
            {3, {1, 1, 1, 2, 1, 1}},
            {4, {3, 1, 1, 2}},
            {5, {1, 2, 1, 1, 1}},
            {6, {1, 1, 1, 1, 1, 1}},
            {2, {1, 1, 2, 1, 1, 1}}};
}

// --- what a stage holds -----------------------------------------------------------------------------------

/// A stage as it must be, as numbers of modules of the whole model; −1 stands for the tied embedding.
struct Expected {
    std::vector<int> modules;
    std::vector<double> chunks;
};

Expected expected_stage(const Cut& cut, int stage)
{
    Expected expected;
    if (cut.is_end(stage)) expected.modules.push_back(-1);
    int layer = 1;  // module 0 is the embedding
    for (std::size_t c = 0; c < cut.blocks.size(); ++c) {
        const auto end = layer + static_cast<int>(cut.blocks[c]);
        if (static_cast<int>(c) % cut.stages == stage) {
            expected.chunks.push_back(static_cast<double>(expected.modules.size()));
            if (c == 0) expected.modules.push_back(0);
            for (int i = layer; i < end; ++i) expected.modules.push_back(i);
            if (c + 1 == cut.blocks.size()) expected.modules.push_back(end);
            expected.chunks.push_back(static_cast<double>(expected.modules.size()));
        }
        layer = end;
    }
    return expected;
}

std::vector<Parameter*> parameters_of_module(const Gpt& gpt, int module)
{
    if (module < 0) return {gpt.modules.front()->parameters().front()};
    return gpt.modules[static_cast<std::size_t>(module)]->parameters();
}

std::string first_difference(const std::string& got, const std::string& expected)
{
    std::istringstream got_lines(got), expected_lines(expected);
    std::string one, other;
    for (int number = 0; std::getline(expected_lines, other); ++number) {
        if (!std::getline(got_lines, one))
            return fmt::format("it has {} parameters, then misses '{}'", number, other);
        if (one != other)
            return fmt::format("parameter number {} is '{}', expected '{}'", number, one, other);
    }
    return std::getline(got_lines, one) ? fmt::format("it also has the parameter '{}'", one) : "";
}

std::vector<std::string> check_stage(const Cut& cut, const Gpt& gpt, int stage, const json& out)
{
    const auto text = [&](const std::string& name) {
        return out.at(fmt::format("{} {}", name, stage)).get<std::string>();
    };
    const Expected expected = expected_stage(cut, stage);
    std::string modules, parameters;
    std::vector<double> values;
    std::vector<Parameter*> seen;
    for (const int module : expected.modules) {
        modules += modules.empty() ? "" : "; ";
        for (bool first = true; Parameter * parameter : parameters_of_module(gpt, module)) {
            modules += (first ? "" : ",") + parameter->name;
            first = false;
            if (std::ranges::find(seen, parameter) != seen.end()) continue;
            seen.push_back(parameter);
            parameters += describe(*parameter) + "\n";
            for (const double value : to_doubles(parameter->value)) values.push_back(value);
        }
    }
    std::vector<std::string> messages{first_difference(text("parameters"), parameters)};
    if (text("modules") != modules)
        messages.push_back(
            fmt::format("the parameters of its modules are {}, expected {}", text("modules"), modules));
    if (out.at(fmt::format("chunks {}", stage)).get<std::vector<double>>() != expected.chunks)
        messages.push_back(fmt::format("its chunks are modules {}, expected {} (first and last of each)",
                                       out.at(fmt::format("chunks {}", stage)).dump(),
                                       json(expected.chunks).dump()));
    if (join(messages).empty())
        messages.push_back(
            compare("the initial values", out.at(fmt::format("values {}", stage)),
                    tensor_input({static_cast<std::int64_t>(values.size())}, DType::fp32, values), {}));
    const std::string tied = cut.is_end(stage) ? "wte.weight" : "";
    const int peer = !cut.is_end(stage) ? -1 : stage == 0 ? cut.stages - 1 : 0;
    if (text("tied") != tied || out.at(fmt::format("tied peer {}", stage)).get<int>() != peer)
        messages.push_back(fmt::format("tied_embedding is '{}' with peer {}, expected '{}' with {}",
                                       text("tied"), out.at(fmt::format("tied peer {}", stage)).get<int>(),
                                       tied, peer));
    messages.push_back(text("tied problem"));
    for (std::string& message : messages)
        if (!message.empty()) message = fmt::format("stage {}: {}", stage, message);
    return messages;
}

NamedCase stages_case(const Cut& cut)
{
    return {cut.name(), one_rank("stages", cut.inputs()), [=](const RankResult& result) {
                const Gpt gpt(cut.shape(), DType::fp32);
                std::vector<std::string> messages;
                for (int s = 0; s < cut.stages; ++s)
                    for (std::string& message : check_stage(cut, gpt, s, result.outputs))
                        messages.push_back(std::move(message));
                return messages;
            }};
}

NamedCase refused_case(const Cut& cut, const ModelShape& shape)
{
    json inputs = cut.inputs();
    inputs.update(shape_inputs(shape));
    return {fmt::format("{} of {} layers", cut.name(), shape.layers), one_rank("stage_refused", inputs),
            [=](const RankResult& result) {
                return std::vector{refusal_problem(result, {fmt::format("{} layers", shape.layers)})};
            }};
}

// --- what its passes give ---------------------------------------------------------------------------------

/// Forward and backward over a batch in two micro-batches; the lookup's gradients stay apart.
double run_gpt(const Gpt& gpt, const Batch& batch)
{
    double loss = 0.0;
    for (const MicroBatch& part : training::split_batch(batch.whole(), batch.micro_batches)) {
        std::vector<Saved> saved(gpt.modules.size());
        Tensor x;
        for (std::size_t i = 0; i < gpt.modules.size(); ++i)
            x = gpt.modules[i]->forward(part, std::move(x), saved[i]);
        loss += x.span<double>()[0];
        x.span<double>()[0] = 1.0;
        for (std::size_t i = gpt.modules.size(); i-- > 0;)
            x = gpt.modules[i]->backward(part, std::move(x), saved[i]);
    }
    return loss;
}

std::vector<std::string> check_passes(const Cut& cut, const Batch& batch, const json& out)
{
    const Gpt gpt(cut.shape(), DType::fp32);
    std::vector<std::string> messages{
        compare_number("the loss", out.at("loss").get<double>(), run_gpt(gpt, batch), {})};
    const auto compare_output = [&](const std::string& name, const Tensor& expected) {
        messages.push_back(compare(name, out.value(name, json()), expected, {}));
    };
    for (int s = 0; s < cut.stages; ++s)
        for (const int module : expected_stage(cut, s).modules)
            for (const Parameter* parameter : parameters_of_module(gpt, module)) {
                const std::string name = fmt::format("gradient {} of stage {}", parameter->name, s);
                const bool lookup = cut.stages > 1 && s == 0 && parameter->name == "wte.weight";
                compare_output(name, lookup ? parameter->second_gradient : parameter->gradient);
                if (cut.stages == 1 && parameter->name == "wte.weight")
                    compare_output("second " + name, parameter->second_gradient);
                else if (out.contains("second " + name))
                    messages.push_back(fmt::format(
                        "{}: there is a second gradient, but head and lookup are on two stages", name));
            }
    return messages;
}

NamedCase passes_case(const Cut& cut)
{
    const Batch batch = make_batch(4, 2, cut.shape(), 4);
    json inputs = cut.inputs();
    inputs.update(batch.as_json());
    return {cut.name(), one_rank("stage_passes", inputs),
            [=](const RankResult& result) { return check_passes(cut, batch, result.outputs); }};
}

}  // namespace

TEST_CASE("06.3 make_stage: all stages together are make_gpt", "[06.3]")
{
    std::vector<NamedCase> cases;
    for (const Cut& cut : cuts()) cases.push_back(stages_case(cut));
    for (const Cut& cut : {Cut{2, {2, 1, 2}}, Cut{2, {2, 2}}, Cut{1, {}}, Cut{3, {2, 3, 2}}})
        cases.push_back(refused_case(cut, {5, 8, 2, 3, 11}));
    run_and_check("stage", cases);
}

TEST_CASE("06.3 make_stage: its modules' passes, head and lookup apart", "[06.3]")
{
    std::vector<NamedCase> cases;
    for (const Cut& cut : cuts()) cases.push_back(passes_case(cut));
    run_and_check("stage", cases);
}
