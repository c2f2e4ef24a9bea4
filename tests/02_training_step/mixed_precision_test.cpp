#include <cmath>
#include <limits>

#include "lib/machine/base/model_shape.hpp"
#include "tests/02_training_step/support.hpp"

using namespace training_test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Scale {
    double scale = 65536.0;
    std::int64_t good_steps = 0, growth_interval = 3;
    double largest = 16777216.0, smallest = 1.0;
};

/// The message about step i of a history of overflows.
std::string compare_history(const std::string& name, const json& got, const std::vector<double>& expected,
                            const std::vector<std::int32_t>& overflows)
{
    const auto values = got.get<std::vector<double>>();
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (values.at(i) != expected[i])
            return fmt::format("{} after step {} ({}) is {}, expected {}", name, i + 1,
                               overflows[i] != 0 ? "overflow" : "no overflow", values.at(i), expected[i]);
    return "";
}

NamedCase scale_case(const std::string& name, const Scale& scale, const std::vector<std::int32_t>& overflows,
                     const std::vector<double>& scales, const std::vector<double>& good_steps)
{
    json inputs = {{"scale", scale.scale},
                   {"good_steps", scale.good_steps},
                   {"growth_interval", scale.growth_interval},
                   {"largest", scale.largest},
                   {"smallest", scale.smallest},
                   {"overflows", overflows}};
    return {name, one_rank("update_loss_scale", inputs), [=](const RankResult& result) {
                return std::vector{
                    compare_history("the scale", result.outputs.at("scales"), scales, overflows),
                    compare_history("the number of good steps", result.outputs.at("good_steps"), good_steps,
                                    overflows)};
            }};
}

NamedCase overflow_case(const std::string& name, DType dtype, std::vector<double> values, bool expected)
{
    return {fmt::format("{} gradient with {}", name_of(dtype), name),
            one_rank("has_overflow",
                     {{"gradient", tensor_input({static_cast<std::int64_t>(values.size())}, dtype, values)}}),
            [=](const RankResult& result) {
                const bool got = result.outputs.at("overflow").get<double>() != 0.0;
                return std::vector<std::string>{
                    got == expected ? "" : fmt::format("has_overflow is {}, expected {}", got, expected)};
            }};
}

NamedCase states_case(DType dtype, std::int64_t elements)
{
    const bool mixed = is_sixteen_bit(dtype);
    const DType wide = mixed ? DType::fp32 : dtype;
    const std::vector<double> values =
        random_values(fmt::format("{} values", name_of(dtype)), elements, dtype);
    return {fmt::format("{} {} parameters", elements, name_of(dtype)),
            one_rank("make_optimizer_states", {{"values", tensor_input({elements}, dtype, values)}}),
            [=](const RankResult& result) {
                const json& out = result.outputs;
                const json zeros =
                    tensor_input({elements}, wide, std::vector<double>(static_cast<std::size_t>(elements)));
                const auto tensor = [&](const char* name) { return out.value(name, json()); };
                std::vector<std::string> messages{
                    compare("m", tensor("m"), zeros, {}), compare("v", tensor("v"), zeros, {}),
                    compare("values", tensor("values"), tensor_input({elements}, dtype, values), {}),
                    compare_number("step", out.at("step").get<double>(), 0.0, {})};
                if (mixed)
                    messages.push_back(
                        compare("master", tensor("master"), tensor_input({elements}, wide, values), {}));
                else if (out.contains("master"))
                    messages.push_back(fmt::format(
                        "there are master weights for {} parameters, which are updated themselves",
                        name_of(dtype)));
                const std::uint64_t bytes =
                    static_cast<std::uint64_t>(elements) * size_of(wide) * (mixed ? 3 : 2);
                messages.push_back(check_memory(result, bytes, bytes));
                if (bytes_of(result, Category::optimizer_states) != bytes)
                    messages.push_back(fmt::format("{} bytes of optimizer states, expected {}",
                                                   bytes_of(result, Category::optimizer_states), bytes));
                return messages;
            }};
}

NamedCase model_case(const ModelShape& shape, DType dtype, std::uint64_t parameters, std::uint64_t gradients,
                     std::uint64_t states)
{
    json inputs = {{"layers", shape.layers},     {"hidden", shape.hidden},         {"heads", shape.heads},
                   {"sequence", shape.sequence}, {"vocabulary", shape.vocabulary}, {"dtype", name_of(dtype)}};
    const auto x = static_cast<std::uint64_t>(shape.parameters());
    return {fmt::format("{} model of X = {} parameters", name_of(dtype), x), one_rank("model_memory", inputs),
            [=](const RankResult& result) {
                std::vector<std::string> messages;
                const std::vector<std::pair<Category, std::uint64_t>> expected{
                    {Category::parameters, parameters},
                    {Category::gradients, gradients},
                    {Category::optimizer_states, states}};
                for (const auto& [category, factor] : expected)
                    if (const std::uint64_t got = bytes_of(result, category); got != factor * x)
                        messages.push_back(
                            fmt::format("{} take {} bytes ({:.4g} X), expected {} X", name_of(category), got,
                                        static_cast<double>(got) / static_cast<double>(x), factor));
                return messages;
            }};
}

}  // namespace

TEST_CASE("02.4 update_loss_scale: halves on overflow, doubles after good steps; has_overflow", "[02.4]")
{
    std::vector<NamedCase> cases{
        scale_case("good steps", {}, {0, 0, 0, 0, 0, 0}, {65536, 65536, 131072, 131072, 131072, 262144},
                   {1, 2, 0, 1, 2, 0}),
        scale_case("an overflow in between", {}, {0, 0, 1, 0, 0, 0},
                   {65536, 65536, 32768, 32768, 32768, 65536}, {1, 2, 0, 1, 2, 0}),
        scale_case("overflows in a row", {8.0, 2}, {1, 1, 1, 1, 1}, {4, 2, 1, 1, 1}, {0, 0, 0, 0, 0}),
        scale_case("no room to grow", {4.0, 0, 1, 16.0}, {0, 0, 0, 0}, {8, 16, 16, 16}, {0, 0, 0, 0})};
    for (const DType dtype : all_dtypes) {
        const std::int64_t n = 2100;
        const std::vector<double> finite = random_values("finite", n, dtype);
        cases.push_back(overflow_case("finite numbers", dtype, finite, false));
        for (const double bad : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()})
            for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 1}) {
                std::vector<double> values = finite;
                values[static_cast<std::size_t>(at)] = bad;
                cases.push_back(overflow_case(fmt::format("{} at {}", bad, at), dtype, values, true));
            }
    }
    cases.push_back(overflow_case("inf and -inf", DType::fp16, {infinity, -infinity, 0.0}, true));
    cases.push_back(overflow_case("its largest number", DType::fp16, {65504.0, -65504.0}, false));
    cases.push_back(
        overflow_case("large numbers", DType::bf16, rounded({3e38, 3e38, -3e38}, DType::bf16), false));
    cases.push_back(overflow_case("large numbers", DType::fp64, {1e200, -1e300, 1.7e308}, false));
    run_and_check("mixed_precision", cases);
}

TEST_CASE("02.4 make_optimizer_states: zeros, master weights, 2X + 2X + 12X, 4X + 4X + 8X, 8X + 8X + 16X",
          "[02.4]")
{
    std::vector<NamedCase> cases;
    for (const DType dtype : all_dtypes)
        for (const std::int64_t elements : {1, 130}) cases.push_back(states_case(dtype, elements));
    const ModelShape shape{3, 12, 2, 7, 29};
    cases.push_back(model_case(shape, DType::bf16, 2, 2, 12));
    cases.push_back(model_case(shape, DType::fp16, 2, 2, 12));
    cases.push_back(model_case(shape, DType::fp32, 4, 4, 8));
    cases.push_back(model_case(shape, DType::fp64, 8, 8, 16));
    run_and_check("mixed_precision", cases);
}
