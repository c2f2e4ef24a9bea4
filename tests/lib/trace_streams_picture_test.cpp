// The SVG picture of devices that communicate beside computing, read back.
#include <algorithm>
#include <cmath>

#include "lib/machine/base/units.hpp"
#include "lib/tools/trace/timeline.hpp"
#include "tests/lib/trace_overlapped.hpp"
#include "tests/lib/trace_picture.hpp"
#include "tests/lib/trace_synthetic.hpp"

using namespace shardlings;

namespace {

constexpr double per_us = (1200.0 - 124.0 - 112.0) / 16.0;

double bottom_of(const pugi::xml_node& box)
{
    return number(box, "y") + number(box, "height");
}

/// Whether a box lies from `begin` to `end` microseconds of overlapped().
bool lasts(const pugi::xml_node& box, double begin, double end)
{
    return std::abs(number(box, "x") - 124.0 - begin * per_us) <= rounding &&
           std::abs(number(box, "width") - (end - begin) * per_us) <= rounding;
}

}  // namespace

TEST_CASE("collectives of the communication stream lie in a lane below the compute lane", "[trace]")
{
    const Picture picture(svg_of({overlapped()}));
    const auto backward = picture.boxes("backward");
    const auto collectives =
        picture.all("//g[@class='boxes']/rect[@class='communication'][contains(title, 'all')]");
    REQUIRE(backward.size() == 2);
    REQUIRE(collectives.size() == 2);
    CHECK(lasts(collectives[0], 4.0, 9.0));
    CHECK(lasts(collectives[1], 9.0, 14.0));
    CHECK(contains(collectives[0].child("title").text().get(),
                   "all-reduce h.1: " + format_seconds(5.0 * us) + " from"));
    for (const pugi::xml_node& box : collectives) CHECK(number(box, "y") > bottom_of(backward[0]));
    // What the collectives consist of is drawn on them: 2 sends and, below, 2 receives and a wait each.
    const auto sends = picture.boxes("send");
    const auto receives = picture.boxes("receive");
    REQUIRE(sends.size() == 4);
    REQUIRE(receives.size() == 4);
    CHECK(lasts(sends[3], 11.5, 14.0));
    CHECK(lasts(receives[3], 12.5, 14.0));
    for (const auto& marks : {sends, receives})
        for (const pugi::xml_node& mark : marks) {
            CHECK(number(mark, "y") > number(collectives[0], "y"));
            CHECK(bottom_of(mark) <= bottom_of(collectives[0]));
            CHECK(number(mark, "height") < number(collectives[0], "height") / 2.0);
        }
    CHECK(number(sends[0], "y") < number(receives[0], "y"));
    CHECK(picture.texts("communication stream") == 1);  // in the legend
    CHECK(picture.texts("communication") == 1);         // beside the lane
    // No lanes for messages of the compute stream, which has none: the lane's own background is all.
    CHECK(picture.all("//rect[@class='row']").size() == 1);
}

TEST_CASE("exposed communication is idle time with its name", "[trace]")
{
    const RankTrace trace = overlapped();
    const Picture picture(svg_of({trace}));
    CHECK(picture.texts("idle 37.5 %") == 1);
    std::vector<pugi::xml_node> waits = picture.boxes("idle");
    std::erase_if(waits, [](const pugi::xml_node& box) {
        return !contains(box.child("title").text().get(), "waiting for all-reduce");
    });
    REQUIRE(waits.size() == 2);
    CHECK(lasts(waits[0], 8.0, 9.0));
    CHECK(lasts(waits[1], 9.0, 14.0));
    CHECK(number(waits[1], "y") == number(picture.boxes("backward")[0], "y"));
    CHECK(contains(waits[1].child("title").text().get(),
                   "waiting for all-reduce h.0: " + format_seconds(5.0 * us) + " from"));
    // In the lane and where it is waited for; the first has room for its last word alone, as "backward h.1"
    // is "h.1" anyway.
    CHECK(picture.texts("all-reduce h.0") == 2);
    CHECK(picture.texts("all-reduce h.1") == 1);
    CHECK(picture.texts("h.1") == 2);

    RankTrace wordy;
    wordy.events = {event("wait for communication", "wait", 0.0, 16.0)};
    const Picture same(svg_of({wordy}));
    CHECK(same.texts("communication") == 1);
    CHECK(contains(same.boxes("idle").at(0).child("title").text().get(), "waiting for communication: "));
}

TEST_CASE("the compute stream is busy and waits whatever the other does", "[trace]")
{
    const RankTrace trace = overlapped();
    const std::vector<Span> busy = busy_spans(trace.events);
    // Five roundings: of four times of at most 16 µs and of their sum, each by 2^-53 of it at most.
    CHECK(std::abs(seconds_within(busy, {0.0, 16.0 * us}) - 10.0 * us) <= 5.0 * 0x1p-53 * 16.0 * us);
    const std::vector<Span> waiting = waiting_spans(trace.events);
    REQUIRE(waiting.size() == 1);
    CHECK((waiting[0].begin == 8.0 * us && waiting[0].end == 14.0 * us));
}

TEST_CASE("a box's label gives way to the wait that covers it", "[trace]")
{
    RankTrace trace;
    trace.events = {event("all-gather h.0", "wait", 4.0, 12.0), event("forward h.7", "forward", 0.0, 16.0)};
    const Picture covered(svg_of({trace}));
    CHECK(covered.texts("all-gather h.0") == 1);
    CHECK(covered.texts("h.7") == 0);
    trace.events[0] = event("all-gather h.0", "wait", 0.0, 6.0);
    const Picture beside(svg_of({trace}));
    CHECK(beside.texts("all-gather h.0") == 1);
    CHECK(beside.texts("h.7") == 1);
}

TEST_CASE("messages of the compute stream keep their lanes beside a communication stream", "[trace]")
{
    RankTrace trace = overlapped();
    trace.events.push_back(event("send", "send", 1.0, 3.0));
    trace.events.push_back(event("receive", "receive", 14.0, 15.0));
    RankTrace computing;  // a device that does not communicate has the same lanes
    computing.rank = 1;
    computing.events = {event("backward", "backward", 0.0, 16.0)};
    const Picture picture(svg_of({trace, computing}));
    CHECK(picture.all("//rect[@class='row']").size() == 6);
    CHECK(picture.boxes("send").size() == 5);
    CHECK(picture.boxes("receive").size() == 5);
    const auto collective = picture.boxes("communication").at(0);
    for (const pugi::xml_node& send : picture.boxes("send"))
        CHECK((bottom_of(send) < number(collective, "y")) == lasts(send, 1.0, 3.0));
    CHECK(picture.texts("idle 43.8 %") == 1);  // 7 of 16 µs
    CHECK(picture.texts("idle 0.0 %") == 1);
}

TEST_CASE("a collective on the compute stream is a named box that counts as idle", "[trace]")
{
    RankTrace trace;
    trace.events = {event("backward h.0", "backward", 0.0, 8.0), event("receive", "receive", 8.0, 15.0),
                    event("all-reduce h.0", "communication", 8.0, 16.0)};
    const Picture picture(svg_of({trace}));
    REQUIRE(picture.boxes("communication").size() == 1);
    CHECK(lasts(picture.boxes("communication")[0], 8.0, 16.0));
    CHECK(number(picture.boxes("communication")[0], "y") == number(picture.boxes("backward")[0], "y"));
    CHECK(picture.texts("all-reduce h.0") == 1);
    CHECK(picture.texts("idle 50.0 %") == 1);
    CHECK(picture.all("//path[@class='idle']").empty());
    CHECK(picture.texts("communication") == 1);  // in the legend
    CHECK(picture.texts("communication stream") == 0);
}

TEST_CASE("a picture without communication has no trace of its lane", "[trace]")
{
    CHECK(!contains(svg_of(gpipe_traces(4, 8)), ".communication {"));
    CHECK(contains(svg_of({overlapped()}), ".communication {"));
    CHECK(Picture(svg_of(gpipe_traces(4, 8))).texts("communication stream") == 0);
    // Collectives of a single device take no time.
    std::vector<RankTrace> alone = gpipe_traces(1, 8);
    const std::string before = svg_of(alone);
    alone[0].events.push_back(event("all-reduce", "communication", 8.0, 8.0, Stream::communication));
    alone[0].events.push_back(event("all-reduce", "communication", 8.0, 8.0));
    alone[0].events.push_back(event("all-reduce", "wait", 8.0, 8.0));
    CHECK(svg_of(alone) == before);
}
