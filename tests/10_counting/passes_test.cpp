// 10.6 The seconds of a pass: rings by hand, real passes under the virtual clock, random layouts.
#include "lessons/10_counting/passes.hpp"
#include "tests/10_counting/clusters.hpp"

using namespace counting_test;

namespace {

const std::vector<std::string> parts{"compute", "tensor", "fetch"};

std::vector<double> numbers_of(const counting::PassSeconds& pass)
{
    return {pass.compute, pass.tensor, pass.fetch};
}

NamedCase ring_case(std::int64_t n, std::int64_t size, int p, double expected)
{
    return seconds_case(
        fmt::format("{} elements of {} bytes on {} ranks, 2 s + 1 s for 4 bytes", n, size, p), "ring_time",
        {{"latency", 2.0}, {"bandwidth", 4.0}, {"n", n}, {"size", size}, {"p", p}}, "seconds", expected);
}

NamedCase modules_case(const Job& job, const Topology& topology)
{
    return {
        describe(job) + ", " + describe(topology),
        one_rank("modules", counting_test::inputs_of(job, topology)), [=](const RankResult& result) {
            const counting::ModuleSeconds forward = counting::forward_of_modules(job, topology);
            const counting::ModuleSeconds backward = counting::backward_of_modules(job, topology);
            std::vector<std::string> messages;
            const auto compare = [&](const std::string& output, const counting::PassSeconds& expected) {
                for (const std::string& message : compare_parts(result, output, parts, numbers_of(expected)))
                    messages.push_back(message);
            };
            compare("embedding forward", forward.embedding);
            compare("block forward", forward.block);
            compare("head forward", forward.head);
            compare("embedding backward", backward.embedding);
            compare("block backward", backward.block);
            compare("head backward", backward.head);
            return messages;
        }};
}

NamedCase passes_case(const Job& job, const Topology& topology)
{
    return {describe(job) + ", " + describe(topology),
            one_rank("passes", counting_test::inputs_of(job, topology)), [=](const RankResult& result) {
                std::vector<std::string> messages;
                for (int stage = 0; stage < job.layout.pp; ++stage)
                    for (int chunk = 0; chunk < job.layout.virtual_stages; ++chunk)
                        for (const bool forward : {true, false}) {
                            const auto seconds =
                                forward ? counting::forward_seconds : counting::backward_seconds;
                            const std::string output = fmt::format("stage {} chunk {} {}", stage, chunk,
                                                                   forward ? "forward" : "backward");
                            for (const std::string& message : compare_parts(
                                     result, output, parts, numbers_of(seconds(job, topology, stage, chunk))))
                                messages.push_back(message);
                        }
                return messages;
            }};
}

/// One micro-batch of two sequences on a single stage of real devices. All that a ring cuts must be the same
/// on all ranks, or a rank could begin earlier than the slowest.
Job real_job(int tp, bool sequence, Recompute recompute, DType dtype)
{
    Job job;
    job.shape = {2, 12, 6, 3, 12};
    job.layout.tp = tp;
    job.layout.sequence_parallel = sequence;
    job.recompute = recompute;
    job.dtype = dtype;
    job.batch = 2;
    return job;
}

NamedCase real_seconds_case(const Job& job)
{
    CaseInput input{"real_seconds", std::vector<json>(static_cast<std::size_t>(job.layout.tp),
                                                      counting_test::inputs_of(job))};
    return {describe(job), input, [=](const CaseResult& result) {
                double seconds = 0.0;
                for (const RankResult& rank : result.ranks)
                    seconds = std::max(seconds, rank.measured.at("virtual_seconds").get<double>());
                return std::vector<std::string>{compare_number(
                    "seconds of a real forward and backward pass (expected: the devices' clock)",
                    result.ranks[0].outputs.at("predicted").get<double>(), seconds, {rounding, 0.0})};
            }};
}

NamedCase message_case(const Job& job, const Topology& topology)
{
    const std::int64_t rows = job.micro_batch() * job.shape.sequence;
    const std::int64_t own =
        job.layout.sequence_parallel ? rows / job.layout.tp + (rows % job.layout.tp > 0 ? 1 : 0) : rows;
    const Link& link = counting::pipeline_link(job, topology);
    const auto bytes = static_cast<double>(own * job.shape.hidden) * static_cast<double>(size_of(job.dtype));
    return seconds_case(describe(job) + ", " + describe(topology), "message_time",
                        counting_test::inputs_of(job, topology), "seconds",
                        link.latency + bytes / link.bandwidth);
}

}  // namespace

TEST_CASE("10.6 ring_seconds: by hand", "[10.6]")
{
    run_simplest_first("passes", {ring_case(12, 4, 3, 2 * (2 + 4)), ring_case(13, 4, 3, 2 * (2 + 5)),
                                  ring_case(12, 2, 4, 3 * (2 + 1.5)), ring_case(12, 4, 1, 0),
                                  ring_case(0, 8, 5, 4 * 2), ring_case(2, 8, 5, 4 * (2 + 2))});
}

TEST_CASE("10.6 forward_seconds and backward_seconds: real passes", "[10.6]")
{
    run_simplest_first("passes", {real_seconds_case(real_job(1, false, Recompute::none, DType::fp32)),
                                  real_seconds_case(real_job(3, false, Recompute::none, DType::fp64)),
                                  real_seconds_case(real_job(3, true, Recompute::none, DType::bf16)),
                                  real_seconds_case(real_job(2, true, Recompute::full, DType::fp32)),
                                  real_seconds_case(real_job(3, false, Recompute::full, DType::fp16)),
                                  real_seconds_case(real_job(2, false, Recompute::selective, DType::fp32))});
}

TEST_CASE("10.6 forward_of_modules and backward_of_modules: random layouts", "[10.6]")
{
    Dice dice("modules");
    std::vector<NamedCase> cases;
    for (int i = 0; i < 60; ++i) {
        const Job job = random_job(dice);
        cases.push_back(modules_case(job, random_topology(job, dice)));
    }
    run_simplest_first("passes", cases);
}

TEST_CASE("10.6 forward_seconds and backward_seconds: every chunk of random layouts", "[10.6]")
{
    Dice dice("passes");
    std::vector<NamedCase> cases;
    for (int i = 0; i < 60; ++i) {
        const Job job = random_job(dice);
        cases.push_back(passes_case(job, random_topology(job, dice)));
    }
    run_simplest_first("passes", cases);
}

TEST_CASE("10.6 forward_seconds: what a fetch costs beyond the pass in front of it", "[10.6]")
{
    // h = 2, T = 1, V = 2 on 2 data-parallel ranks, 1 s a message, bytes free: every fetch takes 1 s. A
    // block's pass takes 24·4 + 4·2 = 104 FLOPs, the head's 8: at 1 FLOP/s more than 1 s, at 1000 less.
    Job job;
    job.shape = {3, 2, 1, 1, 2};
    job.layout.dp = 2;
    job.layout.zero = 3;
    job.batch = 2;
    Topology topology{.nodes = 1, .devices_per_node = 2, .intra = {1.0, 1e300}, .flops = 1.0};
    const auto fetch_case = [&](double flops, const std::string& pass, double expected) {
        topology.flops = flops;
        return NamedCase{fmt::format("3 blocks at {} FLOP/s, {}", flops, pass),
                         one_rank("passes", counting_test::inputs_of(job, topology)),
                         [=](const RankResult& result) {
                             return std::vector<std::string>{compare_number(
                                 "fetch", result.outputs.at("stage 0 chunk 0 " + pass).at(2).get<double>(),
                                 expected, {rounding, 0.0})};
                         }};
    };
    run_simplest_first(
        "passes",
        {// The embedding's, and the first block's, as the embedding's pass takes no time.
         fetch_case(1.0, "forward", 2.0),
         // and two blocks' and the head's two buckets less a block's 0.104 s.
         fetch_case(1000.0, "forward", 2.0 + 2 * (1 - 0.104) + (2 - 0.104)), fetch_case(1.0, "backward", 0.0),
         fetch_case(1000.0, "backward", (1 - 0.016) + 2 * (1 - 0.208))});
}

TEST_CASE("10.6 message_seconds: random layouts", "[10.6]")
{
    Dice dice("messages");
    std::vector<NamedCase> cases;
    for (int i = 0; i < 60; ++i) {
        const Job job = random_job(dice);
        cases.push_back(message_case(job, random_topology(job, dice)));
    }
    run_simplest_first("passes", cases);
}
