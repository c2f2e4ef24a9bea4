#include "lib/tools/marks/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "lib/machine/base/error.hpp"
#include "lib/tools/grade/judge_timeline.hpp"
#include "lib/tools/marks/text.hpp"
#include "lib/tools/trace/picture.hpp"

namespace shardlings {

namespace {

constexpr double end_share = 0.26;      // of the events' time, for what became of the ranks
constexpr double least_seconds = 1e-6;  // of a case in which nothing took time

/// When the first event begins and the last one ends.
Span span_of(const grade::Timeline& timeline)
{
    Span span{std::numeric_limits<double>::infinity(), 0.0};
    for (const grade::RankTimeline& rank : timeline.ranks)
        for (const Event& event : rank.events)
            span = {std::min(span.begin, event.begin), std::max(span.end, event.end)};
    if (span.begin > span.end) span.begin = span.end;
    span.end = std::max(span.end, span.begin + least_seconds);
    return span;
}

std::string ending_text(const grade::RankTimeline& rank)
{
    switch (rank.ending) {
        case grade::Ending::result:
            return "has returned";
        case grade::Ending::error:
            return "ends with an error";
        case grade::Ending::none:
            break;
    }
    return rank.waits.empty() ? "no result" : "waits for " + rank.waits;
}

/// The events in seconds from `span.begin` on: receives beside what the device computes too, and from the
/// last event to the end of the picture what became of the rank.
RankTrace trace_of(const grade::RankTimeline& rank, int number, Span span)
{
    RankTrace trace;
    trace.rank = number;
    double last = 0.0;
    for (Event event : rank.events) {
        event.begin -= span.begin;
        event.end -= span.begin;
        trace.events.push_back(event);
        if (event.stream != Stream::compute || event.kind == "send") continue;
        last = std::max(last, event.end);
        if (event.kind != "receive") continue;
        event.kind = "wait";
        event.name = fmt::format("message from {}", std::exchange(event.peer, -1));
        trace.events.push_back(event);
    }
    const double end = (1.0 + end_share) * (span.end - span.begin);
    trace.events.push_back({.name = ending_text(rank), .kind = "wait", .begin = last, .end = end});
    return trace;
}

std::string reading(const grade::Timeline& timeline)
{
    std::uint64_t cut = 0;
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (const grade::RankTimeline& rank : timeline.ranks) {
        cut += rank.cut;
        sent += rank.sent;
        received += rank.received;
    }
    std::string text = fmt::format(
        "{} messages were begun, {} of them received. A box that is hatched is time in which the rank waits "
        "or has nothing to do; the last one says what became of it. Rest the pointer on a box to read it.",
        sent, received);
    if (cut > 0) text += fmt::format(" {} earlier events are left out.", cut);
    return text;
}

}  // namespace

void add_timeline(pugi::xml_node parent, const std::string& timeline)
try {
    const grade::Timeline read = grade::timeline_of(timeline);
    const Span span = span_of(read);
    std::vector<RankTrace> traces;
    for (std::size_t i = 0; i < read.ranks.size(); ++i)
        traces.push_back(trace_of(read.ranks[i], static_cast<int>(i), span));
    PictureOptions options;
    options.title = plain_line(fmt::format("What the device of each rank did: {}", read.name), 120);
    const std::string picture = svg_timeline(traces, options, false);
    pugi::xml_node figure = parent.append_child("figure");
    add_wide(figure, options.title).append_buffer(picture.data(), picture.size());
    add(figure, "figcaption", reading(read));
} catch (const Error&) {
    // advice from outside that cannot be read
}

}  // namespace shardlings
