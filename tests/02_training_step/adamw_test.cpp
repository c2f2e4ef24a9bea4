#include <cmath>

#include "tests/02_training_step/exact_adamw.hpp"

using namespace training_test;

namespace {

struct Run {
    std::string name;
    Update update;
    DType gradient_dtype = DType::fp32;
    std::int64_t elements = 7;
    int steps = 1;
    std::vector<std::int32_t> cuts{};  // empty: one run
};

struct Start {
    std::vector<double> m, v, weights;
    std::vector<std::vector<double>> gradients;
};

/// Where a run starts from: update number 1 has no moments yet.
Start start_of(const Run& run)
{
    const DType dtype = run.update.dtype;
    Start start;
    const auto count = static_cast<std::size_t>(run.elements);
    start.m = start.v = std::vector<double>(count, 0.0);
    if (run.update.step > 1) {
        start.m = random_values(run.name + " m", run.elements, dtype, 0.1);
        start.v = random_values(run.name + " v", run.elements, dtype, 0.1);
        for (double& v : start.v) v = std::abs(v);
    }
    start.weights = random_values(run.name + " w", run.elements, dtype);
    for (int s = 0; s < run.steps; ++s)
        start.gradients.push_back(
            random_values(fmt::format("{} g{}", run.name, s), run.elements, run.gradient_dtype));
    return start;
}

CaseInput input_of(const Run& run, const Start& start)
{
    const auto& o = run.update.options;
    const Shape shape{run.elements};
    std::vector<std::int32_t> cuts = run.cuts;
    if (cuts.empty()) cuts = {0, static_cast<std::int32_t>(run.elements)};
    json inputs = {{"learning_rate", o.learning_rate},
                   {"beta1", o.beta1},
                   {"beta2", o.beta2},
                   {"epsilon", o.epsilon},
                   {"weight_decay", o.weight_decay},
                   {"step", run.update.step},
                   {"steps", run.steps},
                   {"gradient_factor", run.update.gradient_factor},
                   {"decays", run.update.decays},
                   {"cuts", cuts},
                   {"m", tensor_input(shape, run.update.dtype, start.m)},
                   {"v", tensor_input(shape, run.update.dtype, start.v)},
                   {"weights", tensor_input(shape, run.update.dtype, start.weights)}};
    for (std::size_t s = 0; s < start.gradients.size(); ++s)
        inputs[fmt::format("gradient{}", s)] = tensor_input(shape, run.gradient_dtype, start.gradients[s]);
    return one_rank("adamw_update", inputs);
}

NamedCase update_case(const Run& run)
{
    const Start start = start_of(run);
    return {run.name, input_of(run, start), [=](const RankResult& result) {
                const json& out = result.outputs;
                return check_elements(consecutive(run.update, run.steps), start.gradients,
                                      elements_from(start.m, start.v, start.weights), out.at("m"),
                                      out.at("v"), out.at("weights"), "weights");
            }};
}

const training::AdamW usual{1e-2, 0.9, 0.95, 1e-8, 0.1};
NamedCase worked_case(int steps)
{
    // w = 1, g = 2, learning rate 0.1, decay 0.5, betas 0.9 and 0.99. Step 1: m = 0.2, v = 0.04, corrected 2
    // and 4, so w = 1 · 0.95 − 0.1 · 2/2 = 0.85. Step 2, g = −1: m = 0.08, v = 0.0496; corrected 8/19 and
    // 4.96/1.99, so w = 0.85 · 0.95 − 0.1 · (8/19) / sqrt(4.96/1.99) = 0.7808296958...
    const double expected = steps == 1 ? 0.85 : 0.85 * 0.95 - 0.1 * (8.0 / 19.0) / std::sqrt(4.96 / 1.99);
    const Run run{fmt::format("the lesson's example, {} updates", steps),
                  {{0.1, 0.9, 0.99, 0.0, 0.5}, 1, 1.0, 0.0, true, DType::fp64},
                  DType::fp64,
                  1,
                  steps};
    const Start start{{0.0}, {0.0}, {1.0}, {{2.0}, {-1.0}}};
    return {run.name, input_of(run, start), [=](const RankResult& result) {
                // At most 20 roundings of 1.1e-16 of numbers below 1, magnified up to 100-fold where
                // 1 − 0.99² is subtracted: below 1e-12.
                return std::vector{compare("weights", result.outputs.at("weights"),
                                           tensor_input({1}, DType::fp64, {expected}), {0.0, 1e-12})};
            }};
}

/// What was updated in runs, against the same in one run; what lies outside the runs, against the start.
std::string compare_cut(const json& got, const json& whole, const Start& start,
                        const std::vector<std::int32_t>& cuts)
{
    for (const auto& [name, before] :
         {std::pair{"m", &start.m}, {"v", &start.v}, {"weights", &start.weights}}) {
        json expected = whole.at(name);
        for (std::size_t i = 0; i < before->size(); ++i)
            if (static_cast<std::int32_t>(i) < cuts.front() || static_cast<std::int32_t>(i) >= cuts.back())
                expected.at("values").at(i) = before->at(i);
        const std::string message = compare(name, got.at(name), expected, {});
        if (!message.empty()) return message;
    }
    return "";
}

// An epsilon of the size of the gradients, so that where it is added can be seen.
const training::AdamW large_epsilon{3e-2, 0.8, 0.99, 0.25, 0.3};

}  // namespace

TEST_CASE("02.1 adamw_update: weights, m and v after one update and after many", "[02.1]")
{
    std::vector<NamedCase> cases;
    for (const DType states : {DType::fp64, DType::fp32})
        for (const DType gradient : all_dtypes)
            for (const std::int64_t step : {1, 2, 30}) {
                const std::string name =
                    fmt::format("{} gradient, {} states, step {}", name_of(gradient), name_of(states), step);
                const bool decays = step != 2;
                cases.push_back(update_case({name, {usual, step, 1.0, 0.0, decays, states}, gradient}));
                cases.push_back(update_case(
                    {name + ", epsilon 0.25", {large_epsilon, step, 1.0, 0.0, decays, states}, gradient}));
            }
    // The new weight hardly shows a factor of the gradient: m and the root of v both carry it.
    for (const double factor : {1.0 / 65536.0, 0.3, 17.0})
        cases.push_back(update_case({fmt::format("factor {}", factor),
                                     {large_epsilon, 5, factor, 0.0, true, DType::fp32},
                                     DType::fp16}));
    const Update single{usual, 1, 1.0, 0.0, true, DType::fp32};
    const Update twice{usual, 1, 0.5, 0.0, false, DType::fp64};
    cases.push_back(update_case({"20 updates, fp32", single, DType::bf16, 33, 20}));
    cases.push_back(update_case({"20 updates, fp64", twice, DType::fp64, 33, 20}));
    cases.push_back(update_case({"2500 elements", single, DType::fp32, 2500}));
    cases.push_back(update_case({"1 element", single, DType::fp16, 1}));
    cases.push_back(worked_case(1));
    cases.push_back(worked_case(2));
    run_and_check("adamw", cases);
}

TEST_CASE("02.1 adamw_update: shards of any size agree bitwise, and nothing outside is touched", "[02.1]")
{
    const std::int32_t n = 2311;
    std::vector<std::int32_t> ones;
    for (std::int32_t i = 0; i <= n; ++i) ones.push_back(i);
    const std::vector<std::vector<std::int32_t>> all_cuts{
        {0, 1, 4, 1023, 1030, 2050, n}, {0, 770, 1540, n}, ones, {13, 1500}};
    std::vector<CaseInput> inputs;
    std::vector<Start> starts;
    for (const DType dtype : {DType::fp64, DType::fp32}) {
        Run run{"shards", {usual, 2, 0.7, 0.0, true, dtype}, DType::bf16, n, 3};
        starts.push_back(start_of(run));
        inputs.push_back(input_of(run, starts.back()));
        for (const auto& cuts : all_cuts) {
            run.cuts = cuts;
            inputs.push_back(input_of(run, starts.back()));
        }
    }
    const auto results = run_cases("adamw", inputs);
    for (const CaseResult& result : results)
        if (!result.failure.empty()) FAIL(result.failure);
    for (std::size_t d = 0; d < starts.size(); ++d)
        for (std::size_t i = 0; i < all_cuts.size(); ++i) {
            const std::size_t first = d * (all_cuts.size() + 1);
            const std::string message = compare_cut(results[first + 1 + i].ranks[0].outputs,
                                                    results[first].ranks[0].outputs, starts[d], all_cuts[i]);
            if (!message.empty())
                FAIL("updated in " << all_cuts[i].size() - 1 << " runs instead of one: " << message);
        }
    SUCCEED();
}

namespace {

struct Schedule {
    double peak, floor;
    std::int64_t warmup, total;
};

NamedCase schedule_case(const Schedule& schedule, const std::vector<std::int32_t>& steps)
{
    const auto [peak, floor, warmup, total] = schedule;
    std::vector<double> expected;
    for (const std::int32_t k : steps) {
        const double q =
            total <= warmup
                ? 1.0
                : std::min(1.0, static_cast<double>(k - warmup) / static_cast<double>(total - warmup));
        expected.push_back(k <= warmup ? peak * k / static_cast<double>(warmup)
                                       : floor + (peak - floor) * (1.0 + std::cos(M_PI * q)) / 2.0);
    }
    json inputs = {{"peak", peak}, {"floor", floor}, {"warmup", warmup}, {"total", total}, {"steps", steps}};
    const std::string name =
        fmt::format("peak {}, floor {}, warm-up {} of {} steps", peak, floor, warmup, total);
    return {name, one_rank("learning_rate_at", inputs), [=, peak = peak](const RankResult& result) {
                const auto got = result.outputs.at("rates").get<std::vector<double>>();
                std::vector<std::string> messages;
                // At most 8 roundings of numbers no larger than 2 peak.
                for (std::size_t i = 0; i < steps.size(); ++i)
                    messages.push_back(compare_number(fmt::format("the learning rate of step {}", steps[i]),
                                                      got.at(i), expected[i],
                                                      {0.0, 16.0 * peak * unit_roundoff(DType::fp64)}));
                return messages;
            }};
}

}  // namespace

TEST_CASE("02.1 learning_rate_at: warm-up, cosine, floor", "[02.1]")
{
    run_and_check(
        "adamw",
        {schedule_case({1e-3, 1e-4, 10, 110}, {1, 5, 9, 10, 11, 35, 60, 109, 110, 111, 5000}),
         schedule_case({0.3, 0.0, 0, 7}, {1, 2, 3, 4, 5, 6, 7, 8}),
         schedule_case({0.3, 0.1, 7, 7}, {1, 6, 7, 8, 9}), schedule_case({1.0, 0.5, 1, 3}, {1, 2, 3, 4}),
         schedule_case({2e-3, 2e-4, 100, 50}, {1, 99, 100, 101})});
}
