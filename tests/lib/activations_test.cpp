// What `shardlings verify` allows where it is undecided whether a message has been carried when a pass
// begins.
#include "lib/tools/agreement/activations.hpp"

#include "tests/lib/catch.hpp"

using namespace counting;

namespace {

/// Four micro-batches of one sequence of 8 tokens, h = 16: what is sent between stages are 8 · 16 numbers.
Job job_of(int pp, const std::string& schedule)
{
    Job job;
    job.shape = {4, 16, 2, 8, 256};
    job.layout.pp = pp;
    job.layout.schedule = schedule;
    job.batch = 4;
    job.micro_batches = 4;
    return job;
}

/// A node for each device.
Topology cluster(const Job& job, double flops)
{
    return {.nodes = job.layout.world_size(), .devices_per_node = 1, .flops = flops};
}

std::vector<std::int64_t> undecided(const Job& job, double flops)
{
    std::vector<std::int64_t> bytes;
    for (int stage = 0; stage < job.layout.pp; ++stage)
        bytes.push_back(undecided_activations(job, {stage, 0}, cluster(job, flops)));
    return bytes;
}

constexpr double faster_than_links = 1e12;  // a pass takes some 1e-7 s, a message 5e-6 s

}  // namespace

TEST_CASE("undecided activations: of neighbours that send at the same moment, one message")
{
    Job job = job_of(2, "1f1b");
    CHECK(undecided(job, faster_than_links) == std::vector<std::int64_t>{512, 512});
    job.dtype = DType::fp64;
    CHECK(undecided(job, faster_than_links) == std::vector<std::int64_t>{1024, 1024});
    job.dtype = DType::bf16;
    CHECK(undecided(job, faster_than_links) == std::vector<std::int64_t>{256, 256});
}

TEST_CASE("undecided activations: none where nothing is sent, or the sender waits for the answer")
{
    CHECK(undecided(job_of(1, "gpipe"), faster_than_links) == std::vector<std::int64_t>{0});
    for (const double flops : {1e6, 1e9, faster_than_links})
        CHECK(undecided(job_of(2, "naive"), flops) == std::vector<std::int64_t>{0, 0});
}

TEST_CASE(
    "undecided activations: what a link carries in two messages' time at most, on both sides of the peak")
{
    for (const std::string schedule : {"naive", "gpipe", "1f1b"})
        for (const double flops : {1e6, 1e9, 1e11, faster_than_links}) {
            const Job job = job_of(4, schedule);
            const Topology topology = cluster(job, flops);
            for (int stage = 0; stage < job.layout.pp; ++stage) {
                const Place place{stage, 0};
                const std::int64_t bytes = undecided_activations(job, place, topology);
                const std::int64_t peak = peak_activations(job, place, topology);
                CAPTURE(schedule, flops, stage);
                CHECK(bytes <= 2 * 512);
                const double message = topology.inter.latency + 512.0 / topology.inter.bandwidth;
                for (const double patience : {-message, -0.5 * message, 0.5 * message, message}) {
                    const std::int64_t other = peak_activations(job, place, topology, patience);
                    CHECK(std::abs(other - peak) <= bytes);
                }
            }
        }
}
