// 10.4 Traffic: rings counted chunk by chunk and for real, a small model by hand, real passes.
#include "lessons/10_counting/traffic.hpp"
#include "lessons/10_counting/fetches.hpp"
#include "tests/10_counting/jobs.hpp"
#include "tests/10_counting/traffic_expected.hpp"

using namespace counting_test;

namespace {

NamedCase ring_case(std::int64_t n, int p)
{
    return {fmt::format("{} elements on {} ranks", n, p), one_rank("ring", {{"n", n}, {"p", p}}),
            [=](const RankResult& result) {
                std::vector<std::string> messages;
                for (int rank = 0; rank < p; ++rank)
                    for (const bool gather : {false, true}) {
                        const std::string name = gather ? "all-gather" : "reduce-scatter";
                        const double expected = static_cast<double>(ring_elements(n, p, rank, gather));
                        const double got = result.outputs.at(name).at(static_cast<std::size_t>(rank));
                        if (got != expected)
                            messages.push_back(fmt::format("{}: rank {} sends {} elements, expected {}", name,
                                                           rank, got, expected));
                    }
                return messages;
            }};
}

NamedCase real_ring_case(std::int64_t n, int p, const std::string& collective)
{
    Job job;
    job.layout.tp = p;
    NamedCase one = real_case("real_ring", job, "elements sent", [](const RankResult& rank) {
        return rank.measured.at("bytes").get<double>() / 4.0;  // of fp32
    });
    one.name = fmt::format("{} of {} elements on {} ranks", collective, n, p);
    for (json& inputs : one.input.ranks) inputs = {{"n", n}, {"collective", collective}};
    return one;
}

NamedCase bytes_case(const std::string& operation, const Job& job, const Expected& expected)
{
    return place_case(operation, job, {"bytes sent"}, expected);
}

NamedCase hand_case(const std::string& operation, const Job& job, double bytes)
{
    return bytes_case(operation, job, [=](const Job&, Place) { return std::vector<double>{bytes}; });
}

/// L = 1, h = 2, a = 1, T = 3, V = 4, fp32, of one sequence a rank and micro-batch.
Job small_job(int dp, int zero, std::int64_t micro_batches)
{
    Job job;
    job.shape = {1, 2, 1, 3, 4};
    job.layout.dp = dp;
    job.layout.zero = zero;
    job.micro_batches = micro_batches;
    job.batch = dp * micro_batches;
    return job;
}

Job passes_job(const ModelShape& shape, int tp, bool sequence_parallel, Recompute recompute, DType dtype)
{
    Job job;
    job.shape = shape;
    job.layout.tp = tp;
    job.layout.sequence_parallel = sequence_parallel;
    job.dtype = dtype;
    job.batch = 2;
    job.recompute = recompute;
    return job;
}

NamedCase real_tensor_case(const Job& job)
{
    return real_case("real_tensor", job, "bytes sent",
                     [](const RankResult& rank) { return rank.measured.at("bytes").get<double>(); });
}

}  // namespace

TEST_CASE("10.4 reduce_scatter_elements and all_gather_elements: chunk by chunk", "[10.4]")
{
    std::vector<NamedCase> cases;
    for (const int p : {1, 2, 3, 4, 5, 8})
        for (const std::int64_t n : {0, 1, 7, 24}) cases.push_back(ring_case(n, p));
    Dice dice("rings");
    for (int i = 0; i < 10; ++i)
        cases.push_back(ring_case(dice.roll(0, 100000), static_cast<int>(dice.roll(2, 16))));
    run_simplest_first("traffic", cases);
}

TEST_CASE("10.4 reduce_scatter_elements and all_gather_elements: a real ring", "[10.4]")
{
    std::vector<NamedCase> cases;
    for (const std::int64_t n : {1, 10, 11, 12})
        for (const char* collective : {"reduce-scatter", "all-gather"})
            cases.push_back(real_ring_case(n, 3, collective));
    run_simplest_first("traffic", cases);
}

TEST_CASE("10.4 data_parallel_bytes: a small model by hand", "[10.4]")
{
    // Buckets of 14, 74 and 4 elements. On 3 ranks 15, 75 and 6, of which a collective sends 10, 50 and 4.
    // Stage 3 gathers the embedding twice, the block twice, the last layer norm once for every micro-batch.
    run_simplest_first(
        "traffic",
        {hand_case("data", small_job(3, 0, 1), 4 * 2 * 64), hand_case("data", small_job(3, 0, 5), 4 * 2 * 64),
         hand_case("data", small_job(3, 1, 2), 4 * 2 * 64), hand_case("data", small_job(3, 2, 2), 4 * 2 * 64),
         hand_case("data", small_job(3, 3, 1), 4 * (64 + 20 + 100 + 4)),
         hand_case("data", small_job(3, 3, 2), 4 * (64 + 2 * (20 + 100 + 4))),
         hand_case("data", small_job(1, 3, 2), 0)});
}

TEST_CASE("10.4 data_parallel_bytes: every device of random layouts", "[10.4]")
{
    std::vector<NamedCase> cases;
    for (const Job& job : random_jobs("data", 60)) cases.push_back(bytes_case("data", job, data_bytes));
    run_simplest_first("traffic", cases);
}

TEST_CASE("10.4 tensor_parallel_bytes: real passes", "[10.4]")
{
    const ModelShape odd{2, 6, 3, 5, 10};
    run_simplest_first("traffic",
                       {real_tensor_case(passes_job(odd, 3, false, Recompute::none, DType::fp32)),
                        real_tensor_case(passes_job(odd, 3, true, Recompute::none, DType::fp64)),
                        real_tensor_case(passes_job(odd, 3, false, Recompute::full, DType::bf16)),
                        real_tensor_case(passes_job(odd, 3, true, Recompute::full, DType::fp16)),
                        real_tensor_case(passes_job(odd, 3, true, Recompute::selective, DType::bf16))});
}

TEST_CASE("10.4 tensor_parallel_bytes: every device of random layouts", "[10.4]")
{
    std::vector<NamedCase> cases;
    for (const Job& job : random_jobs("tensor", 60)) cases.push_back(bytes_case("tensor", job, tensor_bytes));
    run_simplest_first("traffic", cases);
}

TEST_CASE("10.4 pipeline_bytes: every device of random layouts", "[10.4]")
{
    std::vector<NamedCase> cases;
    // By hand: 2 stages, 3 rows of 2 numbers, 4 micro-batches one way each, and 4 rows of the embedding.
    Job two = small_job(1, 0, 4);
    two.shape.layers = 2;
    two.layout.pp = 2;
    cases.push_back(hand_case("pipeline", two, 4 * (4 * 6 + 4 * 2)));
    for (const Job& job : random_jobs("pipeline", 60))
        cases.push_back(bytes_case("pipeline", job, boundary_bytes));
    run_simplest_first("traffic", cases);
}
