#include "tests/03_collectives/ring_runs.hpp"

using namespace collectives_test;

namespace {

constexpr const char* function = "ring_reduce_scatter";

/// All chunks of n elements in `parts` parts, against what they must be: in order, without gaps, the first
/// n mod parts one longer.
NamedCase chunk_case(std::int64_t n, int parts)
{
    NamedCase one;
    one.name = fmt::format("n = {}, {} parts", n, parts);
    one.input = one_rank("chunk_of", {{"n", n}, {"parts", parts}});
    one.check = [=](const RankResult& rank) {
        std::vector<std::string> messages;
        std::int64_t offset = 0;
        for (int i = 0; i < parts; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const std::int64_t count = n / parts + (i < n % parts ? 1 : 0);
            const auto got_offset = rank.outputs.at("offsets").at(at).get<std::int64_t>();
            const auto got_count = rank.outputs.at("counts").at(at).get<std::int64_t>();
            if (got_offset != offset || got_count != count)
                messages.push_back(
                    fmt::format("chunk {} begins at {} and has {} elements, expected {} and {}", i,
                                got_offset, got_count, offset, count));
            offset += count;
        }
        return messages;
    };
    return one;
}

}  // namespace

TEST_CASE("03.1 chunk_of: runs in order, the first ones one element longer", "[03.1]")
{
    std::vector<NamedCase> cases;
    for (const int parts : {1, 2, 3, 7, 8, 64})
        for (const std::int64_t n : {0, 1, 2, 6, 7, 8, 9, 64, 1000, 1009})
            cases.push_back(chunk_case(n, parts));
    cases.push_back(chunk_case(3'000'000'007, 4));
    cases.push_back(chunk_case(40'000'000'001, 3));
    run_and_check("reduce_scatter", cases);
}

TEST_CASE("03.1 ring_reduce_scatter: chunk r on rank r, any number of ranks and elements", "[03.1]")
{
    run_and_check("reduce_scatter", exact_cases(function, reduce_scatter_promise));
}

TEST_CASE("03.1 ring_reduce_scatter: all dtypes bit by bit, in place, in groups", "[03.1]")
{
    run_and_check("reduce_scatter", bitwise_cases(function, reduce_scatter_promise));
}

TEST_CASE("03.1 ring_reduce_scatter: (p - 1)(alpha + beta n / p), also between nodes", "[03.1]")
{
    run_and_check("reduce_scatter", time_cases(function, reduce_scatter_promise));
}
