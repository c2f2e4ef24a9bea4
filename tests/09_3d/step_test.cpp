#include "tests/09_3d/step_case.hpp"
#include "tests/lib/run_and_check.hpp"

using namespace grid_test;

namespace {

constexpr double limit = 30.0;                // seconds without a case that ends: many ranks share a core
constexpr std::int64_t one_bucket = 1 << 20;  // bytes: more than the model has

/// A block in every chunk of the model, one more in the first.
std::vector<std::int64_t> blocks_of(int chunks)
{
    std::vector<std::int64_t> blocks(static_cast<std::size_t>(chunks), 1);
    blocks.front() = 2;
    return blocks;
}

StepRun step_run(int pp, int dp, int tp, int zero, const std::string& schedule, std::int64_t micro_batches)
{
    StepRun run;
    run.grid = {pp, dp, tp, zero, blocks_of(schedule == "interleaved" ? 2 * pp : pp)};
    run.schedule = schedule;
    run.micro_batches = micro_batches;
    return run;
}

StepRun with_sequence_parallelism(StepRun run)
{
    run.grid.sequence_parallel = true;
    return run;
}

StepRun in_one_bucket(StepRun run)
{
    run.grid.bucket_bytes = one_bucket;
    return run;
}

StepRun in_fp32(StepRun run)
{
    run.grid.dtype = DType::fp32;
    return run;
}

}  // namespace

TEST_CASE("09.3 accumulate_gradients, evaluate_loss: one dimension at a time", "[09.3]")
{
    run_and_check(
        "step",
        {step_case(step_run(1, 1, 1, 0, "1f1b", 3)), step_case(step_run(3, 1, 1, 0, "1f1b", 3)),
         step_case(step_run(2, 1, 1, 0, "interleaved", 4)), step_case(step_run(1, 3, 1, 2, "naive", 2)),
         step_case(with_sequence_parallelism(step_run(1, 1, 3, 0, "naive", 2)))},
        limit);
}

TEST_CASE("09.3 accumulate_gradients, evaluate_loss: two dimensions", "[09.3]")
{
    run_and_check("step",
                  {step_case(step_run(2, 1, 2, 0, "gpipe", 3)), step_case(step_run(1, 2, 2, 3, "naive", 2)),
                   step_case(step_run(3, 2, 1, 1, "1f1b", 2)),
                   step_case(with_sequence_parallelism(step_run(2, 1, 3, 0, "1f1b", 2))),
                   step_case(in_one_bucket(step_run(2, 2, 1, 2, "interleaved", 2))),
                   step_case(in_fp32(step_run(2, 3, 1, 3, "gpipe", 2)))},
                  limit);
}

TEST_CASE("09.3 accumulate_gradients, evaluate_loss: all three", "[09.3]")
{
    std::vector<NamedCase> cases;
    for (const int zero : {0, 1, 2, 3})
        cases.push_back(step_case(
            with_sequence_parallelism(step_run(2, 2, 2, zero, zero % 2 == 0 ? "1f1b" : "interleaved", 2))));
    cases.push_back(step_case(step_run(2, 3, 2, 2, "gpipe", 2)));
    cases.push_back(step_case(in_one_bucket(with_sequence_parallelism(step_run(3, 2, 2, 3, "1f1b", 1)))));
    run_and_check("step", cases, limit);
}
