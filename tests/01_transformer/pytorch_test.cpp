// The model against PyTorch: logits, loss and every gradient, from files that PyTorch wrote.
#include "tests/01_transformer/fixture.hpp"
#include "tests/01_transformer/model_reference.hpp"
#include "tests/lib/catch.hpp"

using namespace lesson01;

namespace {

/// PyTorch sums in another order: in fp64 the longest way through these models is some 10⁴ roundings of
/// 1e-16, relative to a tensor's largest element.
constexpr double allowed_in_fp64 = 1e-10;

json inputs(const Fixture& fixture, DType dtype)
{
    json in = model_inputs(fixture.shape, dtype);
    for (auto& [name, value] : in.items())
        if (value.is_object()) value["values"] = fixture.values("parameters.transformer." + name);
    in["start"] = 0.0;
    in["ids"] = fixture.ids("tokens", 0);
    in["targets"] = fixture.ids("targets", 0);
    in["sequences"] = fixture.sequences;
    in["micro_batches"] = 1;
    in["token_weight"] = fixture.token_weight(0);
    in["dloss"] = 1.0;
    return in;
}

std::string problem(const RankResult& got, const std::string& name, DType dtype, const json& in)
{
    const Fixture fixture(name);
    const ModelResult sizes = with_sizes(gpt_reference, in);
    const auto judged = [&](const std::string& label, const json& value, const std::string& tensor,
                            double size) {
        const Expected expected{tensor_input(fixture.shape_of(tensor), dtype, fixture.values(tensor)), size};
        // In fp32 as in the model's own tests, and one rounding of every parameter.
        const Tolerance tolerance = dtype == DType::fp64
                                        ? Tolerance{0.0, allowed_in_fp64 * largest(expected.value)}
                                        : chained(dtype, model_steps(fixture.shape) + 1, 0.0, expected);
        return compare(label, value, expected.value, tolerance);
    };
    const std::string forward = judged("logits", got.outputs.at("logits"), "logits", sizes.y.size);
    if (!forward.empty()) return forward;
    const json loss = tensor_input({}, dtype, {got.outputs.at("losses").at(0).get<double>()});
    std::vector<std::string> problems{judged("loss", loss, "loss", sizes.losses.size)};
    for (const auto& [parameter, gradient] : sizes.gradients)
        problems.push_back(judged("gradient of " + parameter, got.outputs.at("gradient." + parameter),
                                  "gradients.transformer." + parameter, gradient.size));
    return join(problems);
}

}  // namespace

TEST_CASE("01.7 model: logits, loss and gradients are PyTorch's", "[01.7]")
{
    std::vector<Judged> cases;
    for (const std::string& name : all_fixtures)
        for (const DType dtype : {DType::fp64, DType::fp32}) {
            const json in = inputs(Fixture(name), dtype);
            cases.push_back({fmt::format("PyTorch's model '{}', {}", name, name_of(dtype)),
                             one_rank("model", in),
                             [=](const RankResult& got) { return problem(got, name, dtype, in); }});
        }
    judge("model", cases);
}
