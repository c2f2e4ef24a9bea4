#include "tests/06_pipeline/optimizer_case.hpp"

using namespace pipeline_test;

namespace {

constexpr std::int64_t one_bucket = 1 << 20;  // bytes: more than the model has

OptimizerRun optimizer_run(int stages, int dp, int zero, DType dtype, double max_norm,
                           std::int64_t bucket_bytes)
{
    OptimizerRun run;
    run.stages = stages;
    run.dp = dp;
    run.zero = zero;
    run.dtype = dtype;
    run.max_norm = max_norm;
    run.bucket_bytes = bucket_bytes;
    run.scaled = dtype == DType::fp16;
    run.name = fmt::format("P = {}, {} replicas, ZeRO {}, {}, clipped to {}, buckets of {} bytes", stages, dp,
                           zero, name_of(dtype), max_norm, bucket_bytes);
    return run;
}

/// In the second of four steps the gradient of a parameter that one stage has overflows.
OptimizerRun overflow_run(int stages, int dp, int zero, const std::string& parameter)
{
    OptimizerRun run = optimizer_run(stages, dp, zero, DType::fp16, 0.5, 1);
    run.steps = 4;
    run.overflow = parameter;
    run.overflow_step = 1;
    run.name += fmt::format(", {} overflows in step 2", parameter);
    return run;
}

}  // namespace

TEST_CASE("06.5 make_pipeline_optimizer: norm and weights are bitwise a single process's", "[06.5]")
{
    std::vector<NamedCase> cases;
    for (const int stages : {2, 3, 4}) {
        for (const DType dtype : {DType::fp32, DType::fp64, DType::bf16, DType::fp16})
            cases.push_back(optimizer_case(optimizer_run(stages, 1, 0, dtype, 1.5, 1)));
        cases.push_back(optimizer_case(optimizer_run(stages, 1, 0, DType::fp32, 0.0, one_bucket)));
    }
    run_and_check("optimizer", cases);
}

TEST_CASE("06.5 make_pipeline_optimizer: with replicas, whole and sharded", "[06.5]")
{
    std::vector<NamedCase> cases;
    for (const int zero : {0, 1})
        for (const std::int64_t bucket_bytes : {std::int64_t{1}, one_bucket}) {
            cases.push_back(optimizer_case(optimizer_run(2, 2, zero, DType::fp32, 1.5, bucket_bytes)));
            cases.push_back(optimizer_case(optimizer_run(3, 2, zero, DType::bf16, 1.5, bucket_bytes)));
        }
    run_and_check("optimizer", cases);
}

TEST_CASE("06.5 make_pipeline_optimizer: an overflow on one stage skips the step on all", "[06.5]")
{
    std::vector<NamedCase> cases;
    for (const char* parameter : {"wpe.weight", "ln_f.bias", "h.1.mlp.c_fc.weight"})
        for (const int stages : {2, 3})
            cases.push_back(optimizer_case(overflow_run(stages, 1, 0, parameter)));
    for (const int zero : {0, 1}) cases.push_back(optimizer_case(overflow_run(2, 2, zero, "wpe.weight")));
    run_and_check("optimizer", cases);
}
