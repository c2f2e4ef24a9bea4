#include "tests/03_collectives/ring_runs.hpp"

using namespace collectives_test;

namespace {

constexpr const char* function = "ring_all_reduce";

}  // namespace

TEST_CASE("03.3 ring_all_reduce: the sum on every rank, any number of ranks and elements", "[03.3]")
{
    run_and_check("all_reduce", exact_cases(function, all_reduce_promise));
}

TEST_CASE("03.3 ring_all_reduce: all dtypes bit by bit, in place, in groups", "[03.3]")
{
    std::vector<NamedCase> cases = bitwise_cases(function, all_reduce_promise);
    for (const int columns : {4, 2}) {
        Run grid{function, {ranks_from(0, 7)}, 101};
        grid.grid_columns = columns;
        grid.repeat = 3;
        cases.push_back(
            case_of(grid, grid_promise, "The messages of two groups must not meet: use comm only."));
    }
    run_and_check("all_reduce", cases);
}

TEST_CASE("03.3 ring_all_reduce: 2 (p - 1)(alpha + beta n / p), also between nodes", "[03.3]")
{
    run_and_check("all_reduce", time_cases(function, all_reduce_promise));
}
