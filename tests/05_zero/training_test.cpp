#include "lessons/05_zero/memory.hpp"
#include "tests/05_zero/training_check.hpp"

using namespace zero_test;

namespace {

TrainingCase run_of(int stage, int degree, DType dtype)
{
    TrainingCase one;
    one.stage = stage;
    one.degree = degree;
    one.dtype = dtype;
    one.seed = static_cast<std::int64_t>(seed_of("training"));
    return one;
}

/// Every degree in fp32 and bf16, with buckets of one module, of a few and of all in turn, and a run in each
/// of the other dtypes.
std::vector<TrainingCase> runs(int stage)
{
    std::vector<TrainingCase> all;
    for (const DType dtype : {DType::fp32, DType::bf16})
        for (const int degree : {2, 3, 4, 8}) {
            TrainingCase one = run_of(stage, degree, dtype);
            one.bucket_bytes = std::vector<std::int64_t>{1, 2000, 1000000}[all.size() % 3];
            if (stage >= 2) one.gradient_buckets = 1 + static_cast<int>(all.size() % 2);
            one.broadcast = stage == 3 && all.size() % 4 == 1;
            one.recompute = all.size() % 5 == 2;
            all.push_back(one);
        }
    all.push_back(run_of(stage, 3, DType::fp16));
    all.push_back(run_of(stage, 5, DType::fp64));
    all.back().overlap = false;
    return all;
}

void run_stage(const std::string& file, const std::vector<TrainingCase>& all)
{
    std::vector<NamedCase> cases;
    for (const TrainingCase& one : all) cases.push_back(training_case(one));
    run_and_check(file, cases, 30.0);
}

/// The formulas of lesson 05.1 against what was counted, where the degree divides every bucket, so that there
/// is no padding. `sent`: elements that a rank sends in a step.
NamedCase formula_case(const TrainingCase& one, double sent)
{
    NamedCase named;
    named.name = one.name();
    named.input = training_input(one, "train");
    const auto parameters = static_cast<double>(small_gpt.parameters());
    const zero::StateBytes bytes = zero::state_bytes(one.stage, parameters, one.degree, one.dtype);
    named.check = [=](const CaseResult& result) -> std::vector<std::string> {
        const json& outputs = members(result, one.degree).front()->outputs;
        const auto number = [&](const char* name, std::size_t i) {
            return outputs.at(name).at(i).get<double>();
        };
        return {compare_number("bytes of parameters", number("memory", 0), bytes.parameters, {}),
                compare_number("bytes of gradients", number("memory", 2), bytes.gradients, {}),
                compare_number("bytes of optimizer states", number("memory", 4), bytes.optimizer_states, {}),
                compare_number("elements sent in a step",
                               number("data", 1) / static_cast<double>(size_of(one.dtype)) /
                                   static_cast<double>(one.steps),
                               sent, {})};
    };
    return named;
}

/// Stages 1 and 2 send what plain data parallelism does, 2 (Nd - 1)/Nd X elements: reduce-scatter and
/// all-gather. Stage 3 sends 3 (Nd - 1)/Nd X but for the head's own 2 h, which are fetched once for both
/// passes.
std::vector<NamedCase> formula_cases(int stage)
{
    std::vector<NamedCase> cases;
    for (const int degree : {2, 4, 8})
        for (const bool in_shards : {false, true}) {
            TrainingCase one = run_of(stage, degree, degree == 4 ? DType::fp32 : DType::bf16);
            one.steps = 2;
            one.micro_batches = in_shards ? 3 : 1;
            one.accumulate_in_shards = in_shards;
            const auto x = static_cast<double>(small_gpt.parameters());
            const auto m = static_cast<double>(one.micro_batches);
            const double reduced = stage >= 2 ? m * x : x;
            const double fetched = stage == 3 ? m * (2.0 * x - 2.0 * small_gpt.hidden) : x;
            cases.push_back(formula_case(one, (reduced + fetched) * (degree - 1) / degree));
        }
    return cases;
}

NamedCase refused_case(const TrainingCase& one, const std::string& part)
{
    NamedCase named;
    named.name = one.name();
    named.input = training_input(one, "refused_replica");
    named.check = [=](const CaseResult& result) -> std::vector<std::string> {
        const auto message = members(result, one.degree).front()->outputs.at("message").get<std::string>();
        if (message.find(part) != std::string::npos) return {};
        return {fmt::format("the Error is '{}', expected one that names '{}'", message, part)};
    };
    return named;
}

}  // namespace

TEST_CASE("05.2 stage 1: 20 steps bitwise those of plain data parallelism", "[05.2]")
{
    run_stage("optimizer", runs(1));
}

TEST_CASE("05.2 stage 1: 4X + KX/Nd bytes, and the traffic of plain data parallelism", "[05.2]")
{
    run_and_check("optimizer", formula_cases(1));
}

TEST_CASE("05.3 stage 2: 20 steps bitwise those of plain data parallelism", "[05.3]")
{
    std::vector<TrainingCase> all = runs(2);
    for (const DType dtype : {DType::fp32, DType::bf16}) {
        all.push_back(run_of(2, 3, dtype));
        all.back().accumulate_in_shards = true;
        all.back().micro_batches = 3;
    }
    run_stage("gradients", all);
}

TEST_CASE("05.3 stage 2: 2X + (2X + KX)/Nd bytes, and the traffic of plain data parallelism", "[05.3]")
{
    std::vector<NamedCase> cases = formula_cases(2);
    TrainingCase none = run_of(2, 2, DType::fp32);
    none.gradient_buckets = 0;
    cases.push_back(refused_case(none, "--gradient-buckets is 0"));
    run_and_check("gradients", cases);
}

TEST_CASE("05.4 stage 3: 20 steps bitwise those of plain data parallelism", "[05.4]")
{
    run_stage("values", runs(3));
}

TEST_CASE("05.4 stage 3: (4X + KX)/Nd bytes, and half as much traffic again", "[05.4]")
{
    std::vector<NamedCase> cases = formula_cases(3);
    for (const int stage : {-1, 4})
        cases.push_back(refused_case(run_of(stage, 2, DType::fp32), fmt::format("ZeRO stage {}", stage)));
    TrainingCase no_bytes = run_of(3, 2, DType::fp32);
    no_bytes.bucket_bytes = 0;
    cases.push_back(refused_case(no_bytes, "--bucket-bytes is 0"));
    run_and_check("values", cases);
}
