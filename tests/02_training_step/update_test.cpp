#include "tests/02_training_step/update_case.hpp"

using namespace training_test;

namespace {

StepRun make_run(const std::string& name, DType dtype)
{
    StepRun run;
    run.name = fmt::format("{}, {}", name_of(dtype), name);
    run.dtype = dtype;
    return run;
}

StepRun make_scaled(const std::string& name, double scale, const std::vector<bool>& overflows)
{
    StepRun run = make_run(name, DType::fp16);
    run.scaled = true;
    run.scale = scale;
    run.overflows = overflows;
    return run;
}

}  // namespace

TEST_CASE("02.4 update_parameters: master weights, moments, clipping, padding, memory", "[02.4]")
{
    std::vector<NamedCase> cases;
    for (const DType dtype : all_dtypes)
        for (const double max_norm : {0.0, 1e6, 0.25}) {
            StepRun run = make_run(fmt::format("max_norm {}", max_norm), dtype);
            run.max_norm = max_norm;
            cases.push_back(update_case(run));
        }
    for (const DType dtype : all_dtypes) {
        StepRun run = make_run("update number 8 to 10", dtype);
        run.max_norm = 1.0;
        run.done = 7;
        run.overflows = {false, false, false};
        run.degree = 1;
        cases.push_back(update_case(run));
    }
    StepRun large = make_run("a large parameter", DType::bf16);
    large.sizes = {1500, 3};
    large.decays = {1, 0};
    cases.push_back(update_case(large));
    // Updates too small for 16-bit weights add up in the master weights.
    for (const DType dtype : {DType::bf16, DType::fp16}) {
        StepRun run = make_run("20 updates of 1e-4", dtype);
        run.options = {1e-4, 0.9, 0.95, 1e-8, 0.1};
        run.overflows.assign(20, false);
        cases.push_back(update_case(run));
    }
    run_and_check("mixed_precision", cases);
}

TEST_CASE("02.4 update_parameters: loss scaling is undone before clipping, overflow skips the step", "[02.4]")
{
    std::vector<NamedCase> cases;
    for (const double max_norm : {0.0, 0.5}) {
        StepRun run = make_scaled(fmt::format("scale 1024, max_norm {}", max_norm), 1024.0, {false, false});
        run.max_norm = max_norm;
        cases.push_back(update_case(run));
        StepRun tiny = make_scaled(fmt::format("gradients of 1e-7, max_norm {}", max_norm), 65536.0, {false});
        tiny.max_norm = max_norm;
        tiny.gradient_size = 1e-7;
        cases.push_back(update_case(tiny));
    }
    StepRun growing = make_scaled("the scale grows", 64.0, {false});
    growing.good_steps = 1;
    growing.growth_interval = 2;
    growing.max_norm = 0.5;
    cases.push_back(update_case(growing));
    StepRun later = make_scaled("an overflow at step 6", 256.0, {true});
    later.done = 5;
    later.good_steps = 5;
    // After an overflow this test's gradients still carry the scale of before: they are to be divided by the
    // scale there is.
    cases.push_back(update_case(later));
    cases.push_back(update_case(make_scaled("an overflow at step 1", 256.0, {true})));
    cases.push_back(update_case(make_scaled("overflows at 1 and 3 of 4", 64.0, {true, false, true, false})));
    run_and_check("mixed_precision", cases);
}
