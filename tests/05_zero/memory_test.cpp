#include <cmath>

#include "lessons/05_zero/memory.hpp"
#include "tests/lib/run_and_check.hpp"

using namespace grade;

namespace {

const std::vector<DType> all_dtypes{DType::fp64, DType::fp32, DType::bf16, DType::fp16};

/// Rajbhandari et al. 2020, ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, table 1: GB
/// (1e9 bytes) of model states on each of Nd devices for 7.5e9 parameters in mixed precision, K = 12.
struct PaperRow {
    int degree;
    std::vector<double> stages;       // 1, 2, 3, as printed
    std::vector<double> last_digits;  // the unit of the last digit printed
};
const std::vector<PaperRow> paper{
    {1, {120, 120, 120}, {1, 1, 1}},
    {4, {52.5, 41.3, 30}, {0.1, 0.1, 1}},
    {16, {35.6, 21.6, 7.5}, {0.1, 0.1, 0.1}},
    {64, {31.4, 16.6, 1.88}, {0.1, 0.1, 0.01}},
    {256, {30.4, 15.4, 0.47}, {0.1, 0.1, 0.01}},
    {1024, {30.1, 15.1, 0.12}, {0.1, 0.1, 0.01}},
};
constexpr double paper_parameters = 7.5e9;

json inputs(int stage, double parameters, int degree, DType dtype)
{
    return {{"stage", stage}, {"parameters", parameters}, {"degree", degree}, {"dtype", name_of(dtype)}};
}

NamedCase paper_case(const PaperRow& row, int stage)
{
    NamedCase one;
    one.name = fmt::format("stage {} of the paper's model on {} devices", stage, row.degree);
    one.input = one_rank("state_bytes", inputs(stage, paper_parameters, row.degree, DType::fp16));
    const auto column = static_cast<std::size_t>(stage - 1);
    const double printed = row.stages[column], last_digit = row.last_digits[column];
    one.check = [=](const RankResult& result) -> std::vector<std::string> {
        const double gigabytes = result.outputs.at("total").get<double>() / 1e9;
        // Printed numbers are rounded: half a unit of the last digit, and what the division here rounds.
        if (std::abs(gigabytes - printed) <= 0.5 * last_digit + 1e-9) return {};
        return {fmt::format("{:.4g} GB in all, table 1 says {}", gigabytes, printed)};
    };
    return one;
}

/// What is left of 3 · 2^20 parameters, in whole numbers: the degrees divide them.
NamedCase bytes_case(int stage, int degree, DType dtype)
{
    constexpr std::int64_t parameters = 3 << 20;
    const auto size = static_cast<std::int64_t>(size_of(dtype));
    const std::int64_t states = is_sixteen_bit(dtype) ? 12 : 2 * size;
    NamedCase one;
    one.name =
        fmt::format("stage {}, {} {} parameters on {} devices", stage, parameters, name_of(dtype), degree);
    one.input = one_rank("state_bytes", inputs(stage, static_cast<double>(parameters), degree, dtype));
    one.check = [=](const RankResult& result) {
        std::vector<std::string> messages;
        const auto compare_bytes = [&](const std::string& name, std::int64_t each, int sharded_from) {
            const std::int64_t share = stage >= sharded_from ? parameters / degree : parameters;
            messages.push_back(compare_number("bytes of " + name, result.outputs.at(name).get<double>(),
                                              static_cast<double>(share * each), {}));
        };
        compare_bytes("parameters", size, 3);
        compare_bytes("gradients", size, 2);
        compare_bytes("optimizer_states", states, 1);
        return messages;
    };
    return one;
}

NamedCase sent_case(int stage, double parameters, int degree)
{
    NamedCase one;
    one.name = fmt::format("stage {}, {} parameters on {} devices", stage, parameters, degree);
    one.input = one_rank("sent_elements", inputs(stage, parameters, degree, DType::bf16));
    const double expected = (stage == 3 ? 3.0 : 2.0) * parameters * (degree - 1) / degree;
    one.check = [=](const RankResult& result) -> std::vector<std::string> {
        // A product and a quotient or two in another order, each rounded by half an epsilon.
        return {compare_number("elements sent by a rank", result.outputs.at("elements").get<double>(),
                               expected, {4 * std::numeric_limits<double>::epsilon(), 0.0})};
    };
    return one;
}

/// Bad input ends with a message that names it.
NamedCase refused_case(const std::string& operation, int stage, double parameters, int degree,
                       const std::string& part)
{
    NamedCase one;
    one.name = fmt::format("{} of stage {}, {} parameters, {} devices", operation, stage, parameters, degree);
    json in = inputs(stage, parameters, degree, DType::fp32);
    in["operation"] = operation;
    one.input = one_rank("refused", in);
    one.check = [=](const RankResult& result) -> std::vector<std::string> {
        const auto message = result.outputs.at("message").get<std::string>();
        if (message.empty()) return {"no Error, expected one"};
        if (message.find(part) == std::string::npos)
            return {fmt::format("the Error is '{}', expected it to name '{}'", message, part)};
        return {};
    };
    return one;
}

}  // namespace

TEST_CASE("05.1 state_bytes: table 1 of the ZeRO paper", "[05.1]")
{
    std::vector<NamedCase> cases;
    for (const PaperRow& row : paper)
        for (const int stage : {1, 2, 3}) cases.push_back(paper_case(row, stage));
    run_and_check("memory", cases);
}

TEST_CASE("05.1 state_bytes: every part, stage, degree and dtype", "[05.1]")
{
    std::vector<NamedCase> cases;
    for (const DType dtype : all_dtypes)
        for (const int degree : {1, 2, 3, 64})
            for (const int stage : {0, 1, 2, 3}) cases.push_back(bytes_case(stage, degree, dtype));
    for (const int stage : {-1, 4})
        cases.push_back(refused_case("state_bytes", stage, 10.0, 2, "ZeRO stage"));
    cases.push_back(refused_case("state_bytes", 1, 10.0, 0, "0 devices"));
    cases.push_back(refused_case("state_bytes", 1, -1.0, 2, "-1 parameters"));
    run_and_check("memory", cases);
}

TEST_CASE("05.1 sent_elements: stage 3 sends one and a half times as much", "[05.1]")
{
    std::vector<NamedCase> cases;
    for (const int degree : {1, 2, 3, 8, 1024})
        for (const int stage : {0, 1, 2, 3})
            for (const double parameters : {0.0, 24.0, paper_parameters})
                cases.push_back(sent_case(stage, parameters, degree));
    cases.push_back(refused_case("sent_elements", 4, 10.0, 2, "ZeRO stage"));
    cases.push_back(refused_case("sent_elements", 3, 10.0, 0, "0 devices"));
    run_and_check("memory", cases);
}
