// The judge and drivers that do not do what a driver should.
#include "lib/tools/grade/judge.hpp"

#include <fstream>

#include "tests/lib/catch.hpp"
#include "tests/lib/folder.hpp"

namespace {

/// What comes out of one case when the driver is this shell script.
grade::CaseResult run_with_driver(const std::string& script)
{
    const TemporaryFolder folder;
    std::ofstream(folder / "all") << "#!/bin/sh\n" << script << '\n';
    std::filesystem::permissions(folder / "all", std::filesystem::perms::owner_all);
    setenv("SHARDLINGS_DRIVERS", folder.path().c_str(), 1);
    grade::CaseResult result = grade::run_cases("any", {grade::one_rank("anything", {})}).front();
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
