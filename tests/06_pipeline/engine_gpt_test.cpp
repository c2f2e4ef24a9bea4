#include "tests/06_pipeline/gpt_case.hpp"
#include "tests/06_pipeline/probe_case.hpp"
#include "tests/06_pipeline/random_schedule.hpp"

using namespace pipeline_test;

namespace {

GptRun gpt_run(int stages, int micro_batches, int chunks, int number)
{
    static constexpr std::array<DType, 3> dtypes{DType::fp32, DType::bf16, DType::fp64};
    GptRun run;
    run.stages = stages;
    run.micro_batches = micro_batches;
    run.blocks = uneven_blocks(stages * chunks);
    run.dtype = dtypes[static_cast<std::size_t>(number) % dtypes.size()];
    run.recompute = number % 2 == 1;
    run.masked = number % 4 == 0 ? 0 : 4 + number % 3;
    run.loss_scale = number % 5 == 0 ? 256.0 : 1.0;
    run.name = gpt_name(run);
    return run;
}

NamedCase naive_case(GptRun run)
{
    run.schedule = schedule_inputs(pipeline::naive_schedule(run.stages, run.micro_batches));
    run.name += ", naive";
    return gpt_case(run, "gpt");
}

/// Losses are added in the order of a single process, so forward passes ascend.
NamedCase random_case(GptRun run, bool forward_first)
{
    const int chunks = static_cast<int>(run.blocks.size()) / run.stages;
    run.schedule = schedule_inputs(
        random_schedule(run.name, {run.stages, run.micro_batches, chunks, forward_first, true}));
    run.name += ", a right schedule in random order";
    return gpt_case(run, "gpt");
}

// --- programs that use what is not there ------------------------------------------------------------------

/// Programs of which the first stage's is wrong, and what the error must name.
struct Broken {
    std::string name;
    std::vector<std::string> programs;
    int wrong_stage;
    std::vector<std::string> needed;
    bool recompute = false;
};

NamedCase broken_case(const Broken& broken)
{
    ProbeRun run;
    run.schedule = {static_cast<int>(broken.programs.size()), 2, 1, {}};
    for (const std::string& program : broken.programs)
        run.schedule.programs.push_back(parse_program(program));
    run.chunk_modules.assign(broken.programs.size(), 1);
    run.model.work.assign(broken.programs.size(), {1e6, 1e6, 1, true});
    run.sequences = {1, 1};
    run.recompute = broken.recompute;
    CaseInput input;
    input.operation = "probes";
    for (int s = 0; s < run.schedule.stages; ++s) {
        input.ranks.push_back(probe_inputs(run, 0, s));
        input.ranks.back()["refused"] = s == broken.wrong_stage;
    }
    return {
        broken.name, input, [=](const CaseResult& result) {
            return std::vector{on_rank(
                broken.wrong_stage,
                refusal_problem(result.ranks[static_cast<std::size_t>(broken.wrong_stage)], broken.needed))};
        }};
}

}  // namespace

TEST_CASE("06.4 run_program: a GPT's loss and gradients are bitwise a single process's", "[06.4]")
{
    std::vector<NamedCase> cases;
    int number = 0;
    for (const int stages : {2, 3, 4})
        for (int micro_batches = 1; micro_batches <= 8; ++micro_batches) {
            GptRun run = gpt_run(stages, micro_batches, 1 + number % 3, number);
            cases.push_back(random_case(run, number % 2 == 0));
            ++number;
        }
    for (const int stages : {1, 2, 3, 4}) cases.push_back(naive_case(gpt_run(stages, 3, 1, ++number)));
    cases.push_back(random_case(gpt_run(6, 5, 1, 1), true));
    cases.push_back(random_case(gpt_run(8, 4, 1, 2), false));
    run_and_check("engine", cases);
}

TEST_CASE("06.4 run_program: a program that uses what is not there", "[06.4]")
{
    run_and_check(
        "engine",
        {broken_case({"backward before forward", {"b0"}, 0, {"micro-batch 0"}}),
         broken_case({"backward of another micro-batch than went forward", {"f0 b1"}, 0, {"micro-batch 1"}}),
         broken_case({"backward twice", {"f0 b0 b0"}, 0, {"micro-batch 0"}}),
         broken_case({"nothing received to go forward with", {"", "f1"}, 1, {"micro-batch 1"}}),
         broken_case({"nothing computed to send", {"sa1", ""}, 0, {"micro-batch 1"}}),
         broken_case({"nothing received to go backward with", {"f0 b0", ""}, 0, {"micro-batch 0"}}),
         broken_case({"no gradient to send", {"f0 sa0", "ra0 f0 sg0"}, 1, {"micro-batch 0"}}),
         broken_case({"another micro-batch received", {"f0 sa0", "ra0 f1"}, 1, {"micro-batch 1"}}),
         broken_case(
             {"backward before forward, recomputed", {"f0 sa0", "ra0 b0"}, 1, {"micro-batch 0"}, true}),
         broken_case(
             {"backward twice, recomputed", {"f0 sa0", "ra0 f0 b0 b0"}, 1, {"micro-batch 0"}, true})});
}
