#include "tests/lib/catch.hpp"
#include "tests/lib/ranks/start.hpp"

using namespace shardlings;
using ranks_test::start;

namespace {

/// The scenarios of ranks/comm.cpp hold on that many ranks.
void require_holds(int ranks, const Command& scenarios)
{
    const ProcessResult result = start(ranks, "comm", scenarios);
    INFO(ranks << " ranks: " << result.output);
    REQUIRE_FALSE(result.timed_out);
    REQUIRE(result.exit_code == 0);
}

}  // namespace

TEST_CASE("Comm: a round trip takes exactly 2 (alpha + b beta) inside and between nodes", "[comm]")
{
    require_holds(2, {"ping_pong"});
}

TEST_CASE("Comm: messages share their sender's link, and computing overlaps with them", "[comm]")
{
    require_holds(4, {"egress"});
    require_holds(2, {"overlap"});
}

TEST_CASE("Comm: traffic is counted by peer, link and group", "[comm]")
{
    require_holds(3, {"traffic"});
    require_holds(8, {"traffic"});
}

TEST_CASE("Comm: groups, tags, messages to oneself, bad arguments", "[comm]")
{
    require_holds(1, {"split", "to_oneself", "bad_arguments"});
    require_holds(2, {"split", "to_oneself", "bad_arguments", "tags"});
    require_holds(5, {"split", "to_oneself", "bad_arguments"});
}

TEST_CASE("Comm: virtual time is the same on every run", "[comm]")
{
    const std::string first = start(4, "comm", {"clocks"}).output;
    INFO(first);
    REQUIRE(std::count(first.begin(), first.end(), '\n') == 4);
    REQUIRE(first == start(4, "comm", {"clocks"}).output);
}
