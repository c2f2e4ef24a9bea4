// The timeline of a case that failed: from a driver's frames to the picture on the student's page.
#include <pugixml.hpp>

#include "lib/tools/course/files.hpp"
#include "lib/tools/grade/judge_timeline.hpp"
#include "lib/tools/marks/html.hpp"
#include "tests/lib/catch.hpp"
#include "tests/lib/folder.hpp"
#include "tests/lib/marks.hpp"

using grade::Ending;
using grade::Frame;
using grade::FrameKind;
using grade::TimelineRecorder;

namespace {

/// Messages of 1000 bytes take 2 µs, a floating-point operation 1 µs.
const shardlings::Topology topology{1, 4, {1e-6, 1e9}, {1e-6, 1e9}, 1e6};

TimelineRecorder recorder(std::size_t most = 100)
{
    return {0, topology, most};
}

Frame computed(double flops, double now)
{
    return {.kind = FrameKind::computed, .value = flops, .now = now};
}

Frame sent(int peer, double arrival, double now)
{
    return {.kind = FrameKind::message_sent, .peer = peer, .amount = 1000, .value = arrival, .now = now};
}

grade::RankResult result_of(const TimelineRecorder& recorded, bool finished, const std::string& error = "")
{
    grade::RankResult rank;
    rank.finished = finished;
    rank.error = error;
    rank.measured = {{"timeline", recorded.text()}};
    return rank;
}

/// What note_timeline() writes about a case; empty when it writes nothing.
std::string noted(const grade::CaseResult& result, const std::string& name = "p = 2")
{
    const ::TemporaryFolder folder;
    setenv(grade::timeline_variable, (folder / "timeline").c_str(), 1);
    grade::note_timeline(name, result);
    grade::note_timeline("a later case", result);
    unsetenv(grade::timeline_variable);
    return std::filesystem::exists(folder / "timeline") ? shardlings::read_file(folder / "timeline") : "";
}

/// The timeline of one rank that told these frames.
grade::RankTimeline told(const std::vector<Frame>& frames, std::size_t most = 100)
{
    TimelineRecorder recorded = recorder(most);
    for (const Frame& frame : frames) recorded.take(frame);
    return grade::timeline_of(
               noted({"", false, true, {result_of(recorded, true), result_of(recorded, true)}}))
        .ranks.front();
}

/// The page of a student whose part has failed with this timeline.
std::string page_with(const std::string& timeline)
{
    small::Marked marked = small::mixed("ann");
    marked.grade.parts[1].result.timeline = timeline;
    return shardlings::student_html(marked);
}

}  // namespace

TEST_CASE("a timeline has what a rank computed, sent and received while it was measured")
{
    const grade::RankTimeline rank = told({computed(5.0, 5e-6),
                                           {.kind = FrameKind::measuring, .now = 5e-6},
                                           computed(1.0, 6e-6),
                                           computed(1.0, 7e-6),
                                           sent(1, 9e-6, 7e-6),
                                           {.kind = FrameKind::message_waited,
                                            .category = 1,
                                            .peer = 3,
                                            .amount = 1000,
                                            .value = 1e-5,
                                            .now = 1e-5},
                                           {.kind = FrameKind::measured, .now = 1e-5},
                                           computed(1.0, 11e-6)});
    CHECK(rank.sent == 1);
    CHECK(rank.received == 1);
    CHECK(rank.cut == 0);
    REQUIRE(rank.events.size() == 3);
    const auto is = [&](std::size_t i, const std::string& kind, double begin, double end, int peer) {
        const shardlings::Event& event = rank.events[i];
        // Times are kept in whole picoseconds: half of one is the error of rounding, twice.
        return event.kind == kind && std::abs(event.begin - begin) < 1e-12 &&
               std::abs(event.end - end) < 1e-12 && event.peer == peer;
    };
    CHECK(is(0, "compute", 5e-6, 7e-6, -1));  // without a pause between them, two are one
    CHECK(is(1, "send", 7e-6, 9e-6, 1));
    CHECK(is(2, "receive", 7e-6, 10e-6, 3));
    CHECK(rank.events[1].bytes == 1000);
}

TEST_CASE("of a rank that tells without an end the last events are kept, and how many are missing")
{
    std::vector<Frame> frames;
    for (int i = 1; i <= 10'000; ++i) frames.push_back(sent(1, 2e-6 * i, 2e-6 * (i - 1)));
    const grade::RankTimeline rank = told(frames, 50);
    CHECK(rank.events.size() == 50);
    CHECK(rank.cut == 9950);
    CHECK(rank.sent == 10'000);
    CHECK(std::abs(rank.events.back().end - 0.02) < 1e-12);  // rounded to picoseconds
}

TEST_CASE("frames that cannot be are not drawn")
{
    const double none = std::numeric_limits<double>::quiet_NaN();
    const double never = std::numeric_limits<double>::infinity();
    std::vector<Frame> frames{computed(none, none), computed(1.0, never), computed(1.0, -5.0),
                              computed(1.0, 1e9),   sent(77, 1e-6, 0.0),  sent(-1, 1e-6, 0.0),
                              sent(1, none, none)};
    frames.push_back({.kind = FrameKind::message_waited, .stream = 9, .peer = 1, .now = 1e-6});
    frames.push_back({.kind = FrameKind::message_sent, .peer = 1, .amount = -5, .value = 1e-6});
    CHECK(told(frames).events.empty());
}

TEST_CASE("a timeline says how each rank ended, and is that of the first case that failed")
{
    grade::CaseResult result{
        "deadlock: 1 of 3 ranks can never go on\n  rank 1 waits for a message from 2, tag 7, at ring.cpp:9\n",
        true,
        true,
        {result_of(recorder(), true, "an error"), result_of(recorder(), false), {}}};
    const grade::Timeline timeline = grade::timeline_of(noted(result));
    CHECK(timeline.name == "p = 2");
    REQUIRE(timeline.ranks.size() == 3);
    CHECK(timeline.ranks[0].ending == Ending::error);
    CHECK(timeline.ranks[1].ending == Ending::none);
    CHECK(timeline.ranks[1].waits == "a message from 2");
    CHECK(timeline.ranks[2].waits.empty());  // it has not come to this case
    result.ranks.resize(1);
    CHECK(noted(result).empty());  // of one rank there is nothing to draw
    CHECK(noted({"", false, true, {{}, {}}}).empty());
}

TEST_CASE("what is no timeline is an Error, and no picture on a page")
{
    const std::string rank =
        R"({"ending":0,"waits":"","did":{"sent":0,"received":0,"cut":0,"events":[EVENT]}})";
    const auto with = [&](const std::string& event) {
        std::string text = rank;
        return R"({"case":"x","ranks":[)" + text.replace(text.find("EVENT"), 5, event) + "]}";
    };
    CHECK(grade::timeline_of(with("[1,0,0,5,1,8]")).ranks.front().events.size() == 1);
    std::vector<std::string> wrong{"", "[]", "null", R"({"case":1,"ranks":[]})"};
    for (const char* event :
         {"[9,0,0,5,1,8]", "[1,2,0,5,1,8]", "[1,0,6,5,1,8]", "[1,0,-1,5,1,8]", "[1,0,0,5,1,-8]",
          "[1,0,0,5,1]", "[1,0,0,\"5\",1,8]", "7", "[1,0,0,1e300,1,8]", "[1,0,0,9223372036854775807,1,8]"})
        wrong.push_back(with(event));
    std::string many = R"({"case":"x","ranks":[)";
    const std::string one = with("[1,0,0,5,1,8]");
    for (int i = 0; i < 65; ++i) many += (i > 0 ? "," : "") + one.substr(21, one.size() - 23);
    wrong.push_back(many + "]}");
    for (const std::string& text : wrong) {
        INFO(text.substr(0, 200));
        CHECK(contains(error_of([&] { (void)grade::timeline_of(text); }), "this is no timeline"));
        CHECK_FALSE(contains(page_with(text), "<svg"));
        CHECK(contains(page_with(text), "What is wrong"));
    }
}

TEST_CASE("a student's page has the picture of a case that failed, with text of others as text")
{
    TimelineRecorder recorded = recorder();
    recorded.take(sent(1, 2e-6, 0.0));
    const grade::CaseResult result{
        "deadlock\n  rank 1 waits for </svg><script>alert(1)</script>\x1b[2J, at x:1\n",
        true,
        true,
        {result_of(recorded, true), result_of(recorded, false)}};
    const std::string page = page_with(noted(result, small::hostile));
    pugi::xml_document read;
    REQUIRE(read.load_string(page.c_str(), pugi::parse_default | pugi::parse_doctype));
    const pugi::xml_node svg = read.select_node("//figure//svg").node();
    CHECK(svg);
    CHECK(read.select_nodes("//script").empty());
    CHECK_FALSE(contains(page, "\x1b"));
    std::string texts;
    for (const pugi::xpath_node& node : svg.select_nodes(".//text"))
        texts += node.node().child_value() + std::string("|");
    CHECK(contains(texts, "What the device of each rank did"));
    CHECK(contains(texts, "has returned"));
    std::string hints;
    for (const pugi::xpath_node& node : svg.select_nodes(".//rect/title"))
        hints += node.node().child_value() + std::string("|");
    CHECK(contains(hints, "send, to device 1, 1000 B: 2 us"));
    CHECK(contains(hints, "waits for </svg><script>"));
    CHECK(contains(page, "2 messages were begun, 0 of them received."));
}
