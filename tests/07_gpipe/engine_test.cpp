#include "tests/06_pipeline/gpt_case.hpp"
#include "tests/07_gpipe/kinds.hpp"
#include "tests/07_gpipe/probe_pipeline.hpp"

using namespace pipeline_test;

namespace {

/// `then`, unless the schedule was refused before it was run.
Check if_right(const Check& then)
{
    return [=](const CaseResult& result) {
        const json& out = result.ranks.front().outputs;
        if (!out.contains("refusal")) return then(result);
        return std::vector{
            fmt::format("not run, it is no right schedule: {}", out.at("refusal").get<std::string>())};
    };
}

NamedCase checked_gpt_case(const Kind& kind, int number)
{
    static constexpr std::array<DType, 3> dtypes{DType::bf16, DType::fp32, DType::fp64};
    GptRun run;
    run.stages = kind.stages;
    run.micro_batches = kind.micro_batches;
    run.blocks = uneven_blocks(kind.stages * kind.chunks);
    run.dtype = dtypes[static_cast<std::size_t>(number) % dtypes.size()];
    run.recompute = number % 2 == 1;
    run.masked = number % 4 == 0 ? 0 : 4 + number % 3;
    run.schedule = kind.inputs();
    run.name = gpt_name(run);
    NamedCase one = gpt_case(run, "gpt");
    one.check = if_right(one.check);
    return one;
}

NamedCase checked_probe_case(const Kind& kind, const Link& link)
{
    NamedCase one = probe_pipeline_case(kind, link);
    one.check = if_right(one.check);
    return one;
}

/// Every number of micro-batches, on 2, 3 and 4 stages, and one case on more.
void run_gpts(const std::string& kind, const std::vector<int>& chunks, const Kind& large)
{
    std::vector<NamedCase> cases;
    int number = 0;
    for (const int stages : {2, 3, 4})
        for (int m = 1; m <= 8; ++m)
            if (kind != "interleaved" || m % stages == 0) {
                const int v = chunks[static_cast<std::size_t>(number) % chunks.size()];
                cases.push_back(checked_gpt_case({kind, stages, m, v}, number++));
            }
    cases.push_back(checked_gpt_case(large, number));
    run_and_check(large.file(), cases);
}

void run_probes(const std::string& kind, const std::vector<int>& chunks)
{
    std::vector<NamedCase> cases;
    for (const int stages : {2, 3, 4})
        for (const int v : chunks)
            for (const bool free_messages : {true, false}) {
                const Kind one{kind, stages, 2 * stages, v};
                cases.push_back(
                    checked_probe_case(one, free_messages ? Link{0.0, 1e300} : random_link(one.name())));
            }
    run_and_check(Kind{kind, 1, 1}.file(), cases);
}

}  // namespace

TEST_CASE("07.1 gpipe_schedule: on the engine, bitwise a single process", "[07.1]")
{
    run_gpts("gpipe", {1}, {"gpipe", 6, 4});
}

TEST_CASE("07.1 gpipe_schedule: on the engine, in the time and memory that are promised", "[07.1]")
{
    run_probes("gpipe", {1});
}

TEST_CASE("07.2 one_forward_one_backward_schedule: on the engine, bitwise a single process", "[07.2]")
{
    run_gpts("1f1b", {1}, {"1f1b", 8, 5});
}

TEST_CASE("07.2 one_forward_one_backward_schedule: on the engine, in the time and memory that are promised",
          "[07.2]")
{
    run_probes("1f1b", {1});
}

TEST_CASE("07.3 interleaved_schedule: on the engine, bitwise a single process", "[07.3]")
{
    run_gpts("interleaved", {2, 3, 1}, {"interleaved", 6, 6, 2});
}

TEST_CASE("07.3 interleaved_schedule: on the engine, in the time and memory that are promised", "[07.3]")
{
    run_probes("interleaved", {2, 3});
}
