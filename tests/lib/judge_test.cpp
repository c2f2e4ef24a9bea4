// The judge and drivers that do not do what a driver should.
#include "lib/tools/grade/judge.hpp"

#include <fstream>

#include "tests/lib/catch.hpp"
#include "tests/lib/folder.hpp"

namespace {

/// What comes out of one case on some ranks when the driver of `file` is this shell script.
grade::CaseResult run_with_driver(const std::string& script, const std::string& file = "any",
                                  std::size_t ranks = 1)
{
    const TemporaryFolder folder;
    std::ofstream(folder / "all") << "#!/bin/sh\n" << script << '\n';
    std::filesystem::permissions(folder / "all", std::filesystem::perms::owner_all);
    setenv("SHARDLINGS_DRIVERS", folder.path().c_str(), 1);
    grade::CaseInput one = grade::one_rank("anything", {});
    one.ranks.resize(ranks);
    grade::CaseResult result = grade::run_cases(file, {one}).front();
    unsetenv("SHARDLINGS_DRIVERS");
    return result;
}

}  // namespace

TEST_CASE("a driver that ends well but leaves no result has failed its case")
{
    CHECK(run_with_driver("exit 0").failure.find("without a result") != std::string::npos);
}

TEST_CASE("what a driver says before it ends without a result is its failure")
{
    CHECK(run_with_driver("echo the last word; exit 0").failure.find("the last word") != std::string::npos);
}

TEST_CASE("ranks that wait for each other fail with the cycle and the lines of the file in question")
{
    const auto program = std::filesystem::canonical("/proc/self/exe").parent_path() / "watch/messages";
    const grade::CaseResult result =
        run_with_driver("exec " + program.string() + " receive_ring", "messages", 4);
    INFO(result.failure);
    CHECK(result.stopped);
    CHECK(
        result.failure.starts_with("deadlock: 4 of 4 ranks can never go on; cycle: 0 -> 3 -> 2 -> 1 -> 0\n"));
    CHECK(
        result.failure.find("  rank 2 waits for a message from 1, tag 7, at tests/lib/watch/messages.cpp:") !=
        std::string::npos);
}
