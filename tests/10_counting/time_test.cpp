// 10.7 The seconds of a step: bubbles and pipelines beside the schedules gone through, data parallelism by
// hand, random layouts.
#include "lessons/10_counting/time.hpp"
#include "lessons/07_gpipe/check.hpp"
#include "lessons/10_counting/schedule.hpp"
#include "tests/10_counting/clusters.hpp"

using namespace counting_test;

namespace {

const std::vector<std::string> parts{"compute", "tensor", "data", "bubble", "pipeline", "control"};

/// The share in which the stages idle when lesson 07 goes through the schedule.
NamedCase bubble_case(const Job& job)
{
    const pipeline::Schedule schedule = counting::schedule_of(job);
    const double expected =
        pipeline::bubble_fraction(schedule, pipeline::simulate(schedule, {1.0, 2.0, 0.0}));
    // A difference from 1.
    return {describe(job), one_rank("bubble", counting_test::inputs_of(job)), [=](const RankResult& result) {
                return std::vector<std::string>{compare_number(
                    "bubble fraction", result.outputs.at("number").get<double>(), expected, {0.0, rounding})};
            }};
}

/// Passes of stages and chunks, and what their schedule takes.
NamedCase pipeline_case(const Job& job, const counting::StageSeconds& seconds, double message)
{
    json inputs = counting_test::inputs_of(job);
    std::vector<double> forward, backward;
    for (const auto& chunks : seconds)
        for (const counting::ChunkSeconds& chunk : chunks) {
            forward.push_back(chunk.forward);
            backward.push_back(chunk.backward);
        }
    inputs.update({{"forward", forward}, {"backward", backward}, {"message", message}});
    return seconds_case(fmt::format("{}, {} s a message", describe(job), message), "pipeline_time", inputs,
                        "seconds until the last pass ends",
                        counting::end_of(counting::walk(counting::schedule_of(job), seconds, message)));
}

/// Passes of the same length everywhere, or of stages that differ.
counting::StageSeconds seconds_of(const Job& job, bool equal, Dice& dice)
{
    counting::StageSeconds seconds;
    for (int stage = 0; stage < job.layout.pp; ++stage) {
        const double forward = equal ? 1.0 : static_cast<double>(dice.roll(10, 19));
        seconds.emplace_back(static_cast<std::size_t>(job.layout.virtual_stages),
                             counting::ChunkSeconds{forward, 2.0 * forward});
    }
    return seconds;
}

/// h = 2, a = 1, T = 1, V = 2, 1 block a stage: every ring on 2 ranks takes 1 s, a pass of a block 104 FLOPs
/// forward.
Job small_job(int pp, int zero)
{
    Job job;
    job.shape = {pp, 2, 1, 1, 2};
    job.layout.pp = pp;
    job.layout.dp = 2;
    job.layout.zero = zero;
    job.batch = 2;
    return job;
}

NamedCase data_case(const Job& job, double flops, double expected)
{
    const Topology topology{.nodes = 1, .devices_per_node = 4, .intra = {1.0, 1e300}, .flops = flops};
    return seconds_case(fmt::format("{} at {} FLOP/s, 1 s a message", describe(job), flops), "data_time",
                        counting_test::inputs_of(job, topology), "seconds that nothing hides", expected);
}

NamedCase random_data_case(const Job& job, const Topology& topology)
{
    return {describe(job) + ", " + describe(topology),
            one_rank("data_time", counting_test::inputs_of(job, topology)), [=](const RankResult& result) {
                // A reduction less the passes that hide it.
                const double whole = counting::step_time(job, topology, false).total();
                return std::vector<std::string>{
                    compare_number("seconds that nothing hides", result.outputs.at("number").get<double>(),
                                   counting::data_seconds(job, topology), {rounding, rounding * whole})};
            }};
}

NamedCase step_case(const Job& job, const Topology& topology)
{
    return {describe(job) + ", " + describe(topology),
            one_rank("step_time", counting_test::inputs_of(job, topology)), [=](const RankResult& result) {
                std::vector<std::string> messages;
                for (const bool walks : {false, true}) {
                    const counting::StepTime t = counting::step_time(job, topology, walks);
                    for (const std::string& message :
                         compare_parts(result, walks ? "walked" : "by formula", parts,
                                       {t.compute, t.tensor, t.data, t.bubble, t.pipeline, t.control}))
                        messages.push_back(message);
                }
                return messages;
            }};
}

NamedCase flops_case(const Job& job)
{
    return {describe(job), one_rank("useful_flops", counting_test::inputs_of(job)),
            [=](const RankResult& result) {
                const auto number = [](std::int64_t value) { return static_cast<double>(value); };
                const ModelShape& shape = job.shape;
                const double tokens = number(job.batch * shape.sequence);
                const double attention = 4.0 * number(shape.sequence * shape.hidden) * number(shape.layers);
                const double blocks =
                    24.0 * number(shape.hidden * shape.hidden) * number(shape.layers) + attention;
                const double head = 2.0 * number(shape.hidden * shape.vocabulary);
                double again = job.recompute == Recompute::selective ? attention : 0.0;
                if (job.recompute == Recompute::full) again = blocks + (job.layout.pp > 1 ? head : 0.0);
                return std::vector<std::string>{
                    compare_number("model FLOPs", result.outputs.at("model").get<double>(),
                                   tokens * 3.0 * (blocks + head), {rounding, 0.0}),
                    compare_number("hardware FLOPs", result.outputs.at("hardware").get<double>(),
                                   tokens * (3.0 * (blocks + head) + again), {rounding, 0.0})};
            }};
}

}  // namespace

TEST_CASE("10.7 bubble_fraction: schedules gone through with equal passes", "[10.7]")
{
    Dice dice("bubble");
    std::vector<NamedCase> cases;
    for (int i = 0; i < 60; ++i) cases.push_back(bubble_case(random_job(dice)));
    run_simplest_first("time", cases);
}

TEST_CASE("10.7 pipeline_seconds: equal passes", "[10.7]")
{
    Dice dice("equal passes");
    std::vector<NamedCase> cases;
    for (int i = 0; i < 60; ++i) {
        const Job job = random_job(dice);
        cases.push_back(pipeline_case(job, seconds_of(job, true, dice), 0.0));
    }
    run_simplest_first("time", cases);
}

TEST_CASE("10.7 pipeline_seconds: stages that differ, and messages", "[10.7]")
{
    Dice dice("unequal passes");
    std::vector<NamedCase> cases;
    for (int i = 0; i < 60; ++i) {
        Job job = random_job(dice);
        if (job.layout.virtual_stages > 1) continue;  // there the formula is not exact
        if (job.layout.schedule == "1f1b") job.layout.schedule = "gpipe";
        cases.push_back(pipeline_case(job, seconds_of(job, false, dice), 1.0));
    }
    run_simplest_first("time", cases);
}

TEST_CASE("10.7 data_seconds: by hand", "[10.7]")
{
    // One stage: buckets of the head, the block, the embedding. While a block's backward pass takes 208 s,
    // the head's is reduced; behind the last block nothing is computed. Two stages: block, positions and
    // token embedding on the first, embedding, block and head on the last.
    run_simplest_first(
        "time", {data_case(small_job(1, 0), 1.0, 2 * 2), data_case(small_job(1, 1), 1.0, 2 + 3),
                 data_case(small_job(1, 0), 1e9, 2 * 3 - 208e-9), data_case(small_job(1, 2), 1.0, 3 + 3),
                 data_case(small_job(1, 3), 1.0, 3), data_case(small_job(2, 0), 1.0, 2 * 3),
                 data_case(small_job(2, 1), 1.0, 3 + 3), data_case(small_job(2, 2), 1.0, 6 + 3),
                 data_case(small_job(2, 3), 1.0, 6)});
}

TEST_CASE("10.7 data_seconds: random layouts", "[10.7]")
{
    Dice dice("data seconds");
    std::vector<NamedCase> cases;
    for (int i = 0; i < 60; ++i) {
        const Job job = random_job(dice);
        cases.push_back(random_data_case(job, random_topology(job, dice)));
    }
    run_simplest_first("time", cases);
}

TEST_CASE("10.7 step_time: random layouts", "[10.7]")
{
    Dice dice("steps");
    std::vector<NamedCase> cases;
    for (int i = 0; i < 60; ++i) {
        const Job job = random_job(dice);
        cases.push_back(step_case(job, random_topology(job, dice)));
    }
    run_simplest_first("time", cases);
}

TEST_CASE("10.7 hardware_flops: with what is recomputed", "[10.7]")
{
    std::vector<NamedCase> cases;
    for (const Job& job : random_jobs("useful", 60)) cases.push_back(flops_case(job));
    run_simplest_first("time", cases);
}
