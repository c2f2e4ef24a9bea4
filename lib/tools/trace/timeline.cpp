#include "lib/tools/trace/timeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "lib/machine/base/error.hpp"

namespace shardlings {

namespace {

constexpr std::array<std::string_view, work_count> work_names{
    "forward", "backward", "optimizer", "compute", "send", "receive", "wait", "step", "communication"};

/// The union of spans, as disjoint ones in ascending order.
std::vector<Span> unite(std::vector<Span> spans)
{
    std::ranges::sort(spans, {}, &Span::begin);
    std::vector<Span> united;
    for (const Span& span : spans) {
        if (span.end <= span.begin) continue;
        if (!united.empty() && span.begin <= united.back().end)
            united.back().end = std::max(united.back().end, span.end);
        else
            united.push_back(span);
    }
    return united;
}

/// What of `spans` is not in `holes`; both disjoint and ascending.
std::vector<Span> subtract(std::span<const Span> spans, std::span<const Span> holes)
{
    std::vector<Span> rest;
    std::size_t first = 0;
    for (const Span& span : spans) {
        double begin = span.begin;
        while (first < holes.size() && holes[first].end <= begin) ++first;
        for (std::size_t i = first; i < holes.size() && holes[i].begin < span.end; ++i) {
            if (holes[i].begin > begin) rest.push_back({begin, holes[i].begin});
            begin = std::max(begin, holes[i].end);
        }
        if (begin < span.end) rest.push_back({begin, span.end});
    }
    return rest;
}

void sort(std::vector<Box>& boxes)
{
    std::ranges::stable_sort(boxes, [](const Box& a, const Box& b) {
        return a.event.begin != b.event.begin ? a.event.begin < b.event.begin : a.event.end > b.event.end;
    });
}

template <class Choose>
std::vector<Box> chosen_boxes(std::span<const Event> events, Stream stream, Choose choose)
{
    std::vector<Box> boxes;
    for (const Event& event : events) {
        const Work work = work_of(event);
        if (event.stream == stream && event.end > event.begin && choose(work)) boxes.push_back({event, work});
    }
    sort(boxes);
    return boxes;
}

template <class Choose>
bool any_that_lasts(std::span<const RankTrace> traces, Choose choose)
{
    return std::ranges::any_of(traces, [&choose](const RankTrace& trace) {
        return std::ranges::any_of(
            trace.events, [&choose](const Event& event) { return event.end > event.begin && choose(event); });
    });
}

/// When the compute stream did work that is chosen.
template <class Choose>
std::vector<Span> united_spans(std::span<const Event> events, Choose choose)
{
    std::vector<Span> spans;
    for (const Event& event : events)
        if (event.stream == Stream::compute && choose(work_of(event)))
            spans.push_back({event.begin, event.end});
    return unite(std::move(spans));
}

/// Compute and communication, which other events may lie inside.
std::vector<Box> enclosing_boxes(std::span<const Event> events, Stream stream)
{
    std::vector<Box> boxes = chosen_boxes(
        events, stream, [](Work work) { return is_compute(work) || work == Work::communication; });
    // What is around another event is recorded after it: of two that last equally long, the later is outside.
    std::ranges::reverse(boxes);
    sort(boxes);
    return boxes;
}

/// Finds who lies inside whom among boxes in order.
void nest(std::vector<Box>& boxes)
{
    std::vector<Box*> open;
    for (Box& box : boxes) {
        // Neighbours may overlap in the last bit where their times are sums: inside is wholly inside.
        while (!open.empty() &&
               (open.back()->event.end <= box.event.begin || open.back()->event.end < box.event.end))
            open.pop_back();
        box.depth = static_cast<int>(open.size());
        if (!open.empty()) {
            open.back()->has_children = true;
            if (box.work == Work::compute) box.work = open.back()->work;
        }
        open.push_back(&box);
    }
}

/// A box around each run of two or more outermost ones that are the same pass of the same micro-batch.
std::vector<Box> micro_batch_boxes(std::span<const Box> boxes)
{
    std::vector<Box> runs;
    int length = 0;
    for (const Box& box : boxes) {
        if (box.depth > 0) continue;
        const bool continues = length > 0 && box.work == runs.back().work &&
                               box.event.micro_batch == runs.back().event.micro_batch &&
                               box.event.chunk == runs.back().event.chunk &&
                               box.event.begin == runs.back().event.end;
        if (!continues) {
            if (length == 1) runs.pop_back();
            length = 0;
            if (box.event.micro_batch < 0) continue;
            const std::string name(name_of(box.work));
            runs.push_back({{name, name, box.event.begin, box.event.end, 0.0, 0, -1, box.event.micro_batch,
                             Stream::compute, box.event.chunk},
                            box.work});
        }
        runs.back().event.end = box.event.end;
        runs.back().event.flops += box.event.flops;
        ++length;
    }
    if (length == 1) runs.pop_back();
    return runs;
}

}  // namespace

std::string_view name_of(Work work)
{
    return work_names.at(static_cast<std::size_t>(work));
}

Work work_of(const Event& event)
{
    const auto named = std::ranges::find(work_names, event.kind);
    const Work work =
        named == work_names.end() ? Work::compute : static_cast<Work>(named - work_names.begin());
    if (work != Work::compute) return work;
    for (const Work part : {Work::forward, Work::backward, Work::optimizer})
        if (event.name.starts_with(name_of(part))) return part;
    return work;
}

bool is_compute(Work work)
{
    return work <= Work::compute;
}

bool has_communication_stream(std::span<const RankTrace> traces)
{
    return any_that_lasts(traces, [](const Event& event) { return event.stream == Stream::communication; });
}

bool has_communication(std::span<const RankTrace> traces)
{
    return has_communication_stream(traces) ||
           any_that_lasts(traces, [](const Event& event) { return work_of(event) == Work::communication; });
}

std::vector<Box> compute_boxes(std::span<const Event> events)
{
    std::vector<Box> boxes = enclosing_boxes(events, Stream::compute);
    nest(boxes);
    const std::vector<Box> runs = micro_batch_boxes(boxes);
    boxes.insert(boxes.end(), runs.begin(), runs.end());
    sort(boxes);
    nest(boxes);
    return boxes;
}

std::vector<Box> communication_boxes(std::span<const Event> events)
{
    std::vector<Box> boxes = enclosing_boxes(events, Stream::communication);
    nest(boxes);
    return boxes;
}

std::vector<Box> boxes_of(std::span<const Event> events, Work work, Stream stream)
{
    return chosen_boxes(events, stream, [work](Work other) { return other == work; });
}

std::vector<Box> named_waits(std::span<const Event> events)
{
    std::vector<Box> waits = boxes_of(events, Work::wait, Stream::compute);
    std::erase_if(waits, [](const Box& box) { return box.event.name == name_of(Work::wait); });
    return waits;
}

std::vector<Span> waiting_spans(std::span<const Event> events)
{
    return united_spans(events, [](Work work) { return work == Work::receive || work == Work::wait; });
}

std::vector<Span> waits_outside_collectives(std::span<const Event> events)
{
    return subtract(waiting_spans(events),
                    united_spans(events, [](Work work) { return work == Work::communication; }));
}

std::vector<Span> busy_spans(std::span<const Event> events)
{
    return subtract(united_spans(events, is_compute), waiting_spans(events));
}

void check_times(std::span<const RankTrace> traces)
{
    for (const RankTrace& trace : traces) {
        for (const Event& event : trace.events)
            check(std::isfinite(event.begin) && std::isfinite(event.end) && event.begin <= event.end,
                  "rank {}: the event '{}' lasts from {} to {} seconds: expected finite times in order",
                  trace.rank, event.name, event.begin, event.end);
        for (const MemorySample& sample : trace.memory)
            check(std::isfinite(sample.time), "rank {}: a memory sample at {} seconds", trace.rank,
                  sample.time);
    }
}

double seconds_within(std::span<const Span> spans, Span window)
{
    double seconds = 0.0;
    for (const Span& span : spans)
        seconds += std::max(0.0, std::min(span.end, window.end) - std::max(span.begin, window.begin));
    return seconds;
}

}  // namespace shardlings
