#include "tests/lib/catch.hpp"
#include "tests/lib/ranks/start.hpp"

using namespace shardlings;
using ranks_test::start;

namespace {

/// The scenarios of ranks/`program`.cpp hold on that many ranks.
void require_holds(int ranks, const Command& scenarios, const std::string& program = "comm")
{
    const ProcessResult result = start(ranks, program, scenarios);
    INFO(ranks << " ranks: " << result.output);
    REQUIRE_FALSE(result.timed_out);
    REQUIRE(result.exit_code == 0);
}

/// The scenario of ranks/pieces.cpp ends the job with an error that says so, on the one rank or on the other.
void require_refuses(const std::string& scenario, const std::string& message,
                     const std::string& other = "\n\n")
{
    const ProcessResult result = start(2, "pieces", {scenario});
    INFO(scenario << " printed: " << result.output);
    REQUIRE_FALSE(result.timed_out);
    REQUIRE(result.exit_code != 0);
    const bool says = result.output.find(message) != std::string::npos;
    REQUIRE((says || result.output.find(other) != std::string::npos));
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

TEST_CASE("Comm: a message in pieces arrives whole, whatever its length", "[comm]")
{
    for (const int ranks : {1, 2, 3, 8}) require_holds(ranks, {"lengths", "tags", "bad_arguments"}, "pieces");
    for (const int ranks : {1, 2, 3}) require_holds(ranks, {"checked"}, "pieces");
}

TEST_CASE("Comm: a message in pieces costs what it costs as a whole", "[comm]")
{
    for (const int ranks : {1, 2, 5}) require_holds(ranks, {"costs", "arrival"}, "pieces");
}

TEST_CASE("Comm: pieces that are not what was asked for end the job, naming both", "[comm]")
{
    require_refuses("other_dtype",
                    "rank 1 expected 16 fp16 elements from rank 0 (tag 5) but was sent 16 bf16",
                    "rank 0 expected 0 bf16 elements from rank 1 (tag 5) but was sent 0 fp16");
    require_refuses("other_length",
                    "rank 1 expected 100 fp32 elements from rank 0 (tag 5) but was sent 200000 fp32");
    require_refuses(
        "sent_in_pieces",
        "rank 1 expected 200000 elements as a whole from rank 0 (tag 5) but they were sent in pieces");
    require_refuses(
        "asked_in_pieces",
        "rank 1 expected 200000 elements in pieces from rank 0 (tag 5) but they were sent as a whole");
}
