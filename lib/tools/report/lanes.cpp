#include "lib/tools/report/lanes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "lib/tools/trace/text.hpp"

namespace shardlings {

namespace {

using nlohmann::json;

std::int64_t ticks(double seconds)
{
    return std::llround(seconds * 1e12);
}

std::int64_t step_number(const Event& event)
{
    return std::stoll(event.name.substr(event.name.find(' ') + 1));
}

/// When each step that all ranks have a record of ran, from the first rank's begin to the last one's end.
std::map<std::int64_t, Span> steps_of(std::span<const RankTrace> traces)
{
    std::map<std::int64_t, Span> steps;
    std::map<std::int64_t, std::size_t> ranks;
    for (const RankTrace& trace : traces)
        for (const Event& event : trace.events) {
            if (work_of(event) != Work::step) continue;
            const std::int64_t number = step_number(event);
            Span& span = steps.try_emplace(number, Span{event.begin, event.end}).first->second;
            span = {std::min(span.begin, event.begin), std::max(span.end, event.end)};
            ++ranks[number];
        }
    std::erase_if(steps, [&](const auto& step) { return ranks[step.first] < traces.size(); });
    return steps;
}

/// What a device did, in the lanes of its row.
struct Lanes {
    std::vector<Box> compute;
    std::vector<Box> sends;
    std::vector<Box> communication;

    std::size_t size() const { return compute.size() + sends.size() + communication.size(); }
};

void keep(std::vector<Box>& boxes, const Excerpt& excerpt)
{
    std::erase_if(boxes, [&excerpt](const Box& box) {
        return box.event.end <= excerpt.window.begin || box.event.begin >= excerpt.window.end ||
               (excerpt.detail == Detail::outermost && box.depth > 0);
    });
}

void append(std::vector<Box>& boxes, std::vector<Box> others)
{
    boxes.insert(boxes.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
}

/// Receives lie in the lane of the stream that waits for them, over what is around them.
Lanes lanes_of(const RankTrace& trace, const Excerpt& excerpt)
{
    const std::span<const Event> events = trace.events;
    Lanes lanes{compute_boxes(events), {}, communication_boxes(events)};
    append(lanes.compute, named_waits(events));
    if (excerpt.detail == Detail::everything) {
        append(lanes.compute, boxes_of(events, Work::receive, Stream::compute));
        append(lanes.communication, boxes_of(events, Work::receive, Stream::communication));
        append(lanes.sends, boxes_of(events, Work::send, Stream::compute));
        append(lanes.sends, boxes_of(events, Work::send, Stream::communication));
    }
    for (std::vector<Box>* boxes : {&lanes.compute, &lanes.sends, &lanes.communication}) {
        keep(*boxes, excerpt);
        std::ranges::stable_sort(*boxes, {}, [](const Box& box) { return box.event.begin; });
    }
    return lanes;
}

std::size_t instructions_in(std::span<const RankTrace> traces, const Excerpt& excerpt)
{
    std::size_t count = 0;
    for (const RankTrace& trace : traces) count += lanes_of(trace, excerpt).size();
    return count;
}

/// Instructions by what is the same each time they run, in the order of their first appearance.
class Instructions {
  public:
    std::size_t number_of(const Box& box)
    {
        const Event& e = box.event;
        json entry = {printable(e.name), name_of(box.work), e.micro_batch, e.peer, e.bytes, e.flops, e.chunk};
        const auto [at, is_new] = numbers_.try_emplace(entry.dump(), list_.size());
        if (is_new) list_.push_back(std::move(entry));
        return at->second;
    }

    json take() { return std::move(list_); }

  private:
    std::map<std::string, std::size_t> numbers_;
    json list_ = json::array();
};

json lane_json(const std::vector<Box>& boxes, const Excerpt& excerpt, Instructions& instructions)
{
    json lane = json::array();
    std::int64_t before = 0;
    for (const Box& box : boxes) {
        const std::int64_t begin = ticks(box.event.begin - excerpt.window.begin);
        lane.push_back(begin - before);
        lane.push_back(ticks(box.event.end - excerpt.window.begin) - begin);
        lane.push_back(instructions.number_of(box));
        before = begin;
    }
    return lane;
}

/// The bubble: when the device computed nothing, as begins and durations.
json idle_json(const RankTrace& trace, const Excerpt& excerpt)
{
    json spans = json::array();
    double free_from = excerpt.window.begin;
    std::int64_t before = 0;
    const auto add = [&](double until) {
        const std::int64_t begin = ticks(free_from - excerpt.window.begin);
        const std::int64_t duration = ticks(until - excerpt.window.begin) - begin;
        if (duration <= 0) return;
        spans.push_back(begin - before);
        spans.push_back(duration);
        before = begin;
    };
    for (const Span& busy : busy_spans(trace.events)) {
        if (busy.end <= excerpt.window.begin) continue;
        if (busy.begin >= excerpt.window.end) break;
        add(busy.begin);
        free_from = busy.end;
    }
    add(excerpt.window.end);
    return spans;
}

}  // namespace

Excerpt choose_excerpt(std::span<const RankTrace> traces, std::size_t most)
{
    const std::map<std::int64_t, Span> steps = steps_of(traces);
    if (steps.empty()) return {};
    Excerpt best;
    best.last_step = steps.rbegin()->first;
    const double end = steps.rbegin()->second.end;
    std::int64_t wanted = 1;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step, ++wanted) {
        Excerpt longer{{step->second.begin, end}, step->first, best.last_step};
        // Counting costs as much as writing: twice as many steps each time.
        const bool is_first_of_run = std::next(step) == steps.rend();
        if (!std::has_single_bit(static_cast<std::uint64_t>(wanted)) && !is_first_of_run) continue;
        if (instructions_in(traces, longer) > most) {
            if (wanted > 1) return best;
            longer.detail = Detail::no_messages;
            if (instructions_in(traces, longer) > most) longer.detail = Detail::outermost;
            return longer;
        }
        best = longer;
    }
    return best;
}

json timeline_json(std::span<const RankTrace> traces, const Excerpt& excerpt)
{
    Instructions instructions;
    json ranks = json::array();
    for (const RankTrace& trace : traces) {
        const Lanes lanes = lanes_of(trace, excerpt);
        ranks.push_back({{"compute", lane_json(lanes.compute, excerpt, instructions)},
                         {"sends", lane_json(lanes.sends, excerpt, instructions)},
                         {"communication", lane_json(lanes.communication, excerpt, instructions)},
                         {"idle", idle_json(trace, excerpt)}});
    }
    json steps = json::array();
    for (const auto& [number, span] : steps_of(traces))
        if (number >= excerpt.first_step)
            steps.push_back(
                {number, ticks(span.begin - excerpt.window.begin), ticks(span.end - excerpt.window.begin)});
    return {
        {"begin", excerpt.window.begin},       {"length", ticks(excerpt.window.end - excerpt.window.begin)},
        {"steps", std::move(steps)},           {"left_out", static_cast<int>(excerpt.detail)},
        {"instructions", instructions.take()}, {"ranks", std::move(ranks)}};
}

}  // namespace shardlings
