#include "tests/03_collectives/recursive_doubling.hpp"

#include <bit>

#include "tests/03_collectives/sums.hpp"

using namespace collectives_test;

namespace {

constexpr const char* function = "recursive_doubling_all_reduce";
constexpr const char* if_stuck =
    "Does every rank send before it receives? Then all wait: sendrecv() does both at once. And a partner, "
    "rank "
    "xor 2^k, that is not there must not be waited for.";

/// p = 1 to 8; values that say whose they are.
std::vector<NamedCase> exact_cases()
{
    std::vector<NamedCase> cases;
    for (const std::int64_t n : {8, 1, 0, 1000})
        for (const int p : {2, 4, 8, 3, 5, 6, 7, 1}) {
            Run run{function, {ranks_from(0, p - 1)}, n};
            if (n < 8 && p < 8) run.groups.push_back(ranks_from(p, 7));
            cases.push_back(case_of(run, recursive_doubling_promise, if_stuck));
        }
    return cases;
}

std::vector<NamedCase> bitwise_cases()
{
    std::vector<Run> runs;
    for (const DType dtype : all_dtypes) {
        runs.push_back({function, {ranks_from(0, 7)}, 803, dtype, true});
        runs.push_back({function, {ranks_from(0, 2), ranks_from(3, 7)}, 101, dtype, true, 3, 2});
        runs.push_back({function, {ranks_from(0, 5)}, 4, dtype, true, 1, 3});
        runs.push_back({function, {ranks_from(1, 7)}, 77, dtype, true});
    }
    runs.push_back({function, {{7, 6, 5, 4, 3, 2, 1, 0}}, 50});
    runs.push_back({function, {{6, 2, 5}, {7, 0}}, 31, DType::fp64, false, 5});
    runs.push_back({function, {{1, 3, 5, 7}, {6, 4, 2, 0}}, 122, DType::fp32, true, 2, 2});
    runs.push_back({function, {ranks_from(0, 6)}, 1'000'003, DType::fp32, true, 1});
    std::vector<NamedCase> cases;
    for (const Run& run : runs) cases.push_back(case_of(run, recursive_doubling_promise, if_stuck));
    return cases;
}

std::vector<NamedCase> time_cases()
{
    std::vector<NamedCase> cases;
    for (int p = 2; p <= world_size; ++p) {
        Run run{function, {ranks_from(0, p - 1)}, 1000 + p, DType::fp32, true};
        run.topology.devices_per_node = world_size;
        run.topology.intra = random_link(fmt::format("doubling of {}", p));
        cases.push_back(case_of(run, recursive_doubling_promise, if_stuck));
        for (int rank = 0; rank < world_size; ++rank) run.starts.push_back(1e-5 * rank * rank);
        cases.push_back(case_of(run, recursive_doubling_promise, if_stuck));
    }
    for (const int p : {4, 6, 8}) {
        Run run{function, {ranks_from(0, p - 1)}, 5000, DType::bf16, true};
        run.topology.nodes = 4;
        run.topology.devices_per_node = 2;
        cases.push_back(case_of(run, recursive_doubling_promise, if_stuck));
    }
    return cases;
}

}  // namespace

TEST_CASE("03.5 recursive_doubling_all_reduce: the sum on any number of ranks", "[03.5]")
{
    run_and_check("recursive_doubling", exact_cases());
}

TEST_CASE("03.5 recursive_doubling_all_reduce: all dtypes bit by bit, in place, in groups", "[03.5]")
{
    run_and_check("recursive_doubling", bitwise_cases());
}

TEST_CASE("03.5 recursive_doubling_all_reduce: a round for every power of two, two more beside them",
          "[03.5]")
{
    run_and_check("recursive_doubling", time_cases());
}
