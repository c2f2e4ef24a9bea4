#include <chrono>

#include "tests/lib/catch.hpp"
#include "tests/lib/ranks/start.hpp"

using namespace shardlings;

namespace {

struct Ended {
    ProcessResult process;
    double seconds;  // from the first failure to the end of the job
};

Ended end_of(int ranks, const std::string& scenario)
{
    const TemporaryFolder run;
    const ProcessResult process = ranks_test::start(ranks, "failures", {scenario}, run);
    const auto end = std::filesystem::file_time_type::clock::now();
    const auto failed = std::filesystem::last_write_time(run.path() + "/failed");
    return {process, std::chrono::duration<double>(end - failed).count()};
}

int count_of(const std::string& text, const std::string& part)
{
    int count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

/// The lines that a job printed; the one that MPICH adds when a program aborts is not ours.
int lines_of(const std::string& output)
{
    return count_of(output, "\n") - count_of(output, "\nAbort(");
}

void require_says(const std::string& scenario, const std::string& message)
{
    const ProcessResult result = ranks_test::start(2, "failures", {scenario});
    INFO(scenario << " printed: " << result.output);
    REQUIRE_FALSE(result.timed_out);
    REQUIRE(result.exit_code != 0);
    REQUIRE(count_of(result.output, message) == 1);
}

}  // namespace

TEST_CASE("A message that is not what was asked for ends the job, naming both", "[comm]")
{
    require_says("other_dtype", "rank 1 expected 16 fp16 elements from rank 0 (tag 5) but was sent 16 bf16");
    require_says("too_long", "rank 1 expected 10 fp64 elements from rank 0 (tag 5) but was sent 100000 fp64");
    require_says("too_short", "rank 1 expected 10 fp64 elements from rank 0 (tag 5) but was sent 5 fp64");
}

TEST_CASE("A forgotten request ends the job, naming the line that started it", "[comm]")
{
    require_says("forgotten_request", "rank 0: the isend started at tests/lib/ranks/failures.cpp:");
}

TEST_CASE("shardlings launch: a failing job says why once, and its exit code is not zero", "[device]")
{
    const auto build = ranks_test::build_folder();
    for (const int ranks : {1, 2, 8, 16}) {
        const Command command{
            (build / "shardlings").string(), "launch", "--ranks",
            std::to_string(ranks),           "--",     (build / "tests/lib/ranks/failures").string(),
            "out_of_memory_on_all"};
        const ProcessResult result = run_captured(command, {}, ranks_test::limit_seconds);
        INFO(ranks << " ranks printed: " << result.output);
        CHECK(result.exit_code != 0);
        CHECK(lines_of(result.output) == 3);
        CHECK(count_of(result.output, "device out of memory") == 1);
    }
}

TEST_CASE("Out of memory on one rank or on all ends the job at once, with one message", "[device]")
{
    for (const char* scenario : {"out_of_memory_on_one", "out_of_memory_on_all"})
        for (const int ranks : {1, 2, 8, 16}) {
            const Ended ended = end_of(ranks, scenario);
            const std::string& output = ended.process.output;
            INFO(scenario << " on " << ranks << " ranks: " << ended.seconds << " s, printed: " << output);
            CHECK(ended.process.exit_code != 0);
            CHECK(count_of(output, "device out of memory") == 1);
            CHECK(lines_of(output) == 3);  // what, the breakdown, what to do
            CHECK(ended.seconds < 2.0);
        }
}
