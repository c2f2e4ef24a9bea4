// The whole model.
#include "tests/01_transformer/model_reference.hpp"
#include "tests/lib/catch.hpp"

using namespace lesson01;

namespace {

struct Sizes {
    ModelShape shape;
    std::int64_t sequences, tokens, micro_batches;

    std::string name(DType dtype) const
    {
        return fmt::format("L = {}, h = {}, a = {}, V = {}, B = {}, T = {} of {} positions, {} in flight, {}",
                           shape.layers, shape.hidden, shape.heads, shape.vocabulary, sequences, tokens,
                           shape.sequence,
                           micro_batches == 1 ? "one batch" : fmt::format("{} micro-batches", micro_batches),
                           name_of(dtype));
    }
};

const std::vector<Sizes> all_sizes{
    {{2, 12, 3, 6, 11}, 2, 5, 1}, {{1, 4, 1, 1, 3}, 1, 1, 1}, {{2, 6, 2, 3, 5}, 1, 3, 3}};

json inputs(const Sizes& s, DType dtype)
{
    json in = model_inputs(s.shape, dtype);
    const std::int64_t tokens = s.sequences * s.tokens * s.micro_batches;
    in["ids"] = random_ids("model ids", tokens, s.shape.vocabulary);
    in["targets"] = random_ids("model targets", tokens, s.shape.vocabulary);
    in["sequences"] = s.sequences;
    in["micro_batches"] = s.micro_batches;
    in["token_weight"] = 1.0 / static_cast<double>(tokens);
    in["dloss"] = 2.0;
    return in;
}

std::string problem(const RankResult& got, const Sizes& s, DType dtype, const json& in)
{
    const ModelResult expected = with_sizes(gpt_reference, in);
    const double steps = model_steps(s.shape);
    const double stores = model_stores(s.shape);
    const std::string forward = compare("logits", got.outputs.at("logits"), expected.y.value,
                                        chained(dtype, steps, stores, expected.y));
    if (!forward.empty()) return forward;
    const json losses =
        tensor_input({s.micro_batches}, DType::fp64, got.outputs.at("losses").get<std::vector<double>>());
    const std::int64_t saved = s.shape.layers * block_saved_bytes(s.shape, s.sequences, s.tokens, dtype) +
                               head_saved_bytes(s.shape, s.sequences, s.tokens, dtype);
    const std::int64_t second_gradient =
        s.shape.vocabulary * s.shape.hidden * static_cast<std::int64_t>(size_of(dtype));
    return join(
        {compare("loss", losses, expected.losses.value, chained(dtype, steps, stores, expected.losses)),
         gradient_problem(got, expected, dtype, steps, stores),
         count_problem(got, "left_by_predict", "bytes still allocated after predict", 0),
         count_problem(got, "saved_bytes", "bytes saved by all forward passes", s.micro_batches * saved),
         count_problem(got, "left_on_stack", "tensors on the last stack after backward", 0),
         count_problem(got, "left_bytes",
                       "bytes still allocated after backward (the second gradient of wte.weight is)",
                       second_gradient)});
}

std::vector<std::string> with_prefix(const json& in, const std::string& prefix)
{
    std::vector<std::string> names;
    for (const auto& [name, value] : in.items())
        if (name.starts_with(prefix) && value.is_object()) names.push_back(name);
    return names;
}

}  // namespace

TEST_CASE("01.7 model: logits, losses, gradients, memory", "[01.7]")
{
    judge("model", for_all(all_sizes, "model", inputs, problem));
}

TEST_CASE("01.7 model: backward is the derivative of forward", "[01.7]")
{
    json in = from_zero(inputs({{2, 6, 2, 4, 5}, 2, 4, 1}, DType::fp64));
    judge_derivative("model", {"model",
                               "model",
                               in,
                               in,
                               "losses",
                               json::array({in.at("dloss")}),
                               {with_prefix(in, "ln_f"), with_prefix(in, "h.1."), with_prefix(in, "h.0."),
                                with_prefix(in, "w")},
                               "gradient."});
}
