#include "tests/03_collectives/ring_runs.hpp"

using namespace collectives_test;

namespace {

constexpr const char* function = "ring_all_gather";

}  // namespace

TEST_CASE("03.2 ring_all_gather: every chunk on every rank, any number of ranks and elements", "[03.2]")
{
    run_and_check("all_gather", exact_cases(function, all_gather_promise));
}

TEST_CASE("03.2 ring_all_gather: all dtypes bit by bit, in place, in groups", "[03.2]")
{
    run_and_check("all_gather", bitwise_cases(function, all_gather_promise));
}

TEST_CASE("03.2 ring_all_gather: (p - 1)(alpha + beta n / p), also between nodes", "[03.2]")
{
    run_and_check("all_gather", time_cases(function, all_gather_promise));
}
