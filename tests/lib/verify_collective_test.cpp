// What verify_collective says about a right collective and about wrong ones (tests/lib/collectives).
#include "lib/tools/verify/bounds.hpp"
#include "tests/lib/catch.hpp"
#include "tests/lib/ranks/start.hpp"

using namespace shardlings;

namespace {

ProcessResult check_collective(const std::string& name)
{
    const auto program = ranks_test::build_folder() / "tests/lib/collectives/program";
    return run_captured({program.string(), "--ranks", "3", "--case-seconds", "2"}, {{"COLLECTIVE", name}},
                        ranks_test::limit_seconds);
}

bool says(const std::string& output, const std::string& part)
{
    return output.find(part) != std::string::npos;
}

/// It is found wrong, in one message, and `parts` are in what is printed.
void require_wrong(const std::string& name, const std::vector<std::string>& parts)
{
    const ProcessResult result = check_collective(name);
    INFO(name << " printed: " << result.output);
    CHECK_FALSE(result.timed_out);
    CHECK(result.exit_code == 1);
    CHECK_FALSE(says(result.output, "RIGHT"));
    CHECK(says(result.output, "WRONG: "));
    CHECK(result.output.find("WRONG: ") == result.output.rfind("WRONG: "));
    for (const std::string& part : parts) {
        INFO("expected: " << part);
        CHECK(says(result.output, part));
    }
}

}  // namespace

TEST_CASE("verify_collective: a right all-reduce, its cost beside the bounds", "[verify]")
{
    const ProcessResult result = check_collective("my_all_reduce");
    INFO(result.output);
    REQUIRE(result.exit_code == 0);
    CHECK(says(result.output, "RIGHT: this all-reduce"));
    // p = 3: rank 0 receives and sends two messages of n elements; 2 us and 0.0112 us each, three after
    // another.
    CHECK(says(result.output, "\n  3         4       3360       3360     1.00   6.034 us       4 us"));
    CHECK(says(result.output,
               "\n  3         4    3360000    3360000     1.00    39.6 us       4 us   14.93 us"));
}

TEST_CASE("verify_collective: a sum that is lost, doubled or never added", "[verify]")
{
    require_wrong("lost_on_one_rank",
                  {"p = 2, n = 1, fp64: rank 1, element 0: expected 33554432.5, got 33554432",
                   "nothing was added", "on no other rank"});
    require_wrong("one_step_too_many", {"rank 0's contribution is in it 2 times", "and so on every rank"});
    require_wrong("powers_of_two",
                  {"where p is not a power of two",
                   "p = 3, n = 1, fp64: rank 1, element 0: ", "rank 2's contribution is missing"});
}

TEST_CASE("verify_collective: wrong for some lengths, dtypes, roots and groups only", "[verify]")
{
    require_wrong("not_for_short", {"where n < p"});
    require_wrong("bf16_as_fp16", {"where the dtype is bf16"});
    require_wrong("only_rank_0", {"where the root is not rank 0", "nothing was received"});
    require_wrong("of_the_world",
                  {"where ranks of the group are not those of the world", "group of world ranks 2 1 0"});
}

TEST_CASE("verify_collective: a chunk that is missing or elsewhere", "[verify]")
{
    require_wrong("own_chunk_elsewhere", {"this reduce-scatter", "nothing was added"});
    require_wrong("not_the_last_chunk", {"this all-gather", "nothing was received"});
}

TEST_CASE("verify_collective: other bits on another rank; memory beside the buffer", "[verify]")
{
    require_wrong("other_order", {"where sums are rounded", "not bitwise the same on all ranks: element "});
    require_wrong("past_the_end", {"where p does not divide n", "rank 1 wrote up to 1 element past the end"});
}

TEST_CASE("verify_collective: a hang, a crash and an error name the case, the rank and the line", "[verify]")
{
    require_wrong("deadlock",
                  {"it hangs: p = 2, n = 0, fp64 did not end in 2 s",
                   "\n  rank 0 waits in Comm::recv, called at tests/lib/collectives/deadlock.hpp:1",
                   "\n  rank 1 waits in Comm::recv, called at tests/lib/collectives/deadlock.hpp:1"});
    require_wrong("crash", {"rank 1 crashed: Segmentation fault", "p = 2, n = 0, fp64 ended the program"});
    require_wrong("other_length",
                  {"p = 2, n = 1, fp64: rank 0 threw: ", "expected 0 fp64 elements from rank 1"});
}

TEST_CASE("verify_collective: the bounds", "[verify]")
{
    using namespace verify;
    const Link link{1.0, 0.5};  // alpha 1 s, beta 2 s a byte
    CHECK(least_elements(Collective::all_reduce, 5, 10.0) == 80.0);
    CHECK(least_elements(Collective::all_gather, 5, 10.0) == 40.0);
    CHECK(latency_bound(1, link) == 0.0);
    CHECK(latency_bound(4, link) == 2.0);
    CHECK(latency_bound(5, link) == 3.0);
    CHECK(bandwidth_bound(Collective::all_reduce, 4, 8.0, link) == 24.0);
    CHECK(bandwidth_bound(Collective::reduce_scatter, 4, 8.0, link) == 12.0);
    CHECK(bandwidth_bound(Collective::broadcast, 4, 8.0, link) == 16.0);
    CHECK(bandwidth_bound(Collective::broadcast, 1, 8.0, link) == 0.0);
}
