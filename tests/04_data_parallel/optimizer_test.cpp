#include <limits>

#include "lessons/02_training_step/mixed_precision.hpp"
#include "tests/04_data_parallel/models.hpp"
#include "tests/04_data_parallel/optimizer_run.hpp"

using namespace data_parallel_test;

namespace {

OptimizerRun make_run(const std::string& name, DType dtype, int degree, std::int64_t bucket_elements = 0)
{
    OptimizerRun run{.name = name, .model = tied_gpt};
    run.dtype = dtype;
    run.degree = degree;
    run.bucket_elements = bucket_elements;
    return run;
}

OptimizerRun make_scaled(const std::string& name, double scale, const std::vector<int>& overflows)
{
    OptimizerRun run = make_run(name, DType::fp16, 2);
    run.scaled = true;
    run.scale = scale;
    run.overflows = overflows;
    run.infinity = std::numeric_limits<double>::infinity();
    return run;
}

// --- degree 1 is lesson 02's step
// ---------------------------------------------------------------------------

/// Values after lesson 02.4's update_parameters over the parameters in their order, against the buckets'.
std::vector<std::string> check_lesson_02(const OptimizerRun& run, const RankResult& result)
{
    Device device{DeviceOptions{}};
    ParameterModel model(run.model);
    const std::vector<data_parallel::Bucket> buckets = run.buckets(model);
    const Start start = start_of(run, buckets);
    FlatParameters flat(device, make_flat_layout(parameters_of(model.modules()), 1), run.dtype);
    const auto for_each_entry = [&](const Numbers& numbers, const auto& take) {
        for (std::size_t b = 0; b < buckets.size(); ++b)
            for (const FlatEntry& entry : buckets[b].entries) {
                const auto first = numbers[b].begin() + entry.offset;
                take(*entry.parameter, std::vector<double>(first, first + entry.parameter->elements()));
            }
    };
    for_each_entry(start.values, [](Parameter& p, const auto& values) { from_doubles(values, p.value); });
    training::OptimizerStates states = training::make_optimizer_states(flat.values());
    std::vector<std::string> messages;
    for (std::size_t s = 0; s < start.gradients.size(); ++s) {
        for_each_entry(start.gradients[s],
                       [](Parameter& p, const auto& values) { from_doubles(values, p.gradient); });
        const training::UpdateResult update = training::update_parameters(
            {run.learning_rate, 0.9, 0.95, 1e-8, run.weight_decay}, run.max_norm, nullptr, flat, states);
        messages.push_back(compare_number(fmt::format("the gradient norm of step {}", s + 1),
                                          result.outputs.at("norms").at(s).get<double>(),
                                          update.gradient_norm, {}));
    }
    Numbers got;
    for (std::size_t b = 0; b < buckets.size(); ++b)
        got.push_back(result.outputs.at(fmt::format("values {}", b)).at("values").get<std::vector<double>>());
    for_each_entry(got, [&](Parameter& p, const std::vector<double>& values) {
        messages.push_back(
            compare("values of " + p.name, tensor_input(p.value.shape(), run.dtype, values), p.value, {}));
    });
    return messages;
}

NamedCase lesson_02_case(OptimizerRun run)
{
    run.name += ", as lesson 02.4's update_parameters";
    // The states begin as make_optimizer_states makes them: the master weights are the 16-bit values.
    run.exact_master = true;
    NamedCase one = optimizer_case(run);
    one.check = [=](const RankResult& result) { return check_lesson_02(run, result); };
    return one;
}

}  // namespace

TEST_CASE("04.4 replicated optimizer: AdamW, clipping, master weights, padding, memory", "[04.4]")
{
    std::vector<NamedCase> cases;
    for (const DType dtype : all_dtypes)
        for (const int degree : {1, 2, 3, 4})
            for (const double max_norm : {0.0, 1e6, 0.25}) {
                OptimizerRun run = make_run(fmt::format("max_norm {}", max_norm), dtype, degree,
                                            degree == 3 ? 30 : 1000 * (degree % 2));
                run.max_norm = max_norm;
                cases.push_back(optimizer_case(run));
            }
    for (const DType dtype : all_dtypes) {
        OptimizerRun run = make_run("update number 8 to 10", dtype, 4);
        run.done = 7;
        run.max_norm = 1.0;
        run.overflows = {0, 0, 0};
        cases.push_back(optimizer_case(run));
    }
    OptimizerRun small = make_run("20 updates of 1e-4", DType::bf16, 2);
    small.learning_rate = 1e-4;
    small.overflows.assign(20, 0);
    cases.push_back(optimizer_case(small));
    for (const DType dtype : all_dtypes)
        for (const std::int64_t bucket_elements : {0, 30, 1000}) {
            OptimizerRun run = make_run("degree 1", dtype, 1, bucket_elements);
            run.max_norm = 0.5;
            cases.push_back(lesson_02_case(run));
        }
    run_and_check("optimizer", cases);
}

TEST_CASE("04.4 replicated optimizer: loss scaling is undone, an overflow skips the step", "[04.4]")
{
    std::vector<NamedCase> cases;
    for (const double max_norm : {0.0, 0.5}) {
        OptimizerRun run = make_scaled(fmt::format("scale 1024, max_norm {}", max_norm), 1024.0, {0, 0});
        run.max_norm = max_norm;
        cases.push_back(optimizer_case(run));
    }
    OptimizerRun growing = make_scaled("the scale grows", 64.0, {0, 0});
    growing.good_steps = 2;
    growing.max_norm = 0.5;
    cases.push_back(optimizer_case(growing));
    OptimizerRun later = make_scaled("an overflow at step 6", 256.0, {1});
    later.done = 5;
    cases.push_back(optimizer_case(later));
    OptimizerRun nan = make_scaled("NaN in the last bucket", 256.0, {1, 0});
    nan.overflow_bucket = 3;
    nan.infinity = std::numeric_limits<double>::quiet_NaN();
    cases.push_back(optimizer_case(nan));
    cases.push_back(optimizer_case(make_scaled("overflows at 1 and 3 of 4", 64.0, {1, 0, 1, 0})));
    run_and_check("optimizer", cases);
}

TEST_CASE("04.4 update_parts: the parts of one rank, with the group's norm and overflow", "[04.4]")
{
    std::vector<NamedCase> cases;
    for (const DType dtype : all_dtypes)
        for (const int degree : {2, 3, 4})
            for (int rank = 0; rank < degree; ++rank) {
                OptimizerRun run = make_run("a shard", dtype, degree, degree == 3 ? 0 : 30);
                run.rank = rank;
                run.max_norm = 0.5;
                cases.push_back(optimizer_case(run));
            }
    OptimizerRun padding = make_run("a part that is all padding", DType::fp32, 4);
    padding.model = single;
    padding.rank = 3;
    cases.push_back(optimizer_case(padding));
    for (const int ranks : {1, 2}) {
        OptimizerRun other = make_scaled(fmt::format("overflow on {} other ranks", ranks), 64.0, {ranks, 0});
        other.rank = 1;
        other.degree = 4;
        cases.push_back(optimizer_case(other));
    }
    run_and_check("optimizer", cases);
}
