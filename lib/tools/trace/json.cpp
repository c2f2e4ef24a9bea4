// All that speaks JSON or CBOR: a trace as a message, and the Chrome trace.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lib/machine/base/error.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/tools/trace/memory_curve.hpp"
#include "lib/tools/trace/text.hpp"
#include "lib/tools/trace/timeline.hpp"
#include "lib/tools/trace/trace.hpp"
#include "lib/tools/train/file.hpp"

namespace shardlings {

namespace {

using nlohmann::json;

// --- a trace as a message
// -----------------------------------------------------------------------------------

json array_of(const Event& event)
{
    return {event.name, event.kind,        event.begin,
            event.end,  event.flops,       event.bytes,
            event.peer, event.micro_batch, static_cast<int>(event.stream),
            event.chunk};
}

Event event_of(const json& array)
{
    const int stream = array.at(8);
    check(stream >= 0 && stream < stream_count, "it has a stream {}", stream);
    return {array.at(0), array.at(1), array.at(2),
            array.at(3), array.at(4), array.at(5),
            array.at(6), array.at(7), static_cast<Stream>(stream),
            array.at(9)};
}

json array_of(const MemorySample& sample)
{
    return {sample.time, static_cast<int>(sample.category), sample.change};
}

MemorySample sample_of(const json& array)
{
    const int category = array.at(1);
    check(category >= 0 && category < category_count, "it has a memory category {}", category);
    return {array.at(0), static_cast<Category>(category), array.at(2)};
}

// --- Chrome's trace
// -----------------------------------------------------------------------------------------

/// An event in whole nanoseconds: the resolution of Perfetto, which drops slices that overlap their
/// neighbours' rounded ends.
struct Slice {
    const Event* event;
    std::size_t number;  // in the order they were recorded
    std::int64_t begin;
    std::int64_t end;
};

double microseconds(std::int64_t nanoseconds)
{
    return static_cast<double>(nanoseconds) / 1e3;
}

/// Slices that lie side by side or inside each other.
struct SliceLane {
    std::vector<Slice> slices;
    std::vector<std::int64_t> open;  // ends of the slices around the next one, outermost first

    bool takes(const Slice& slice)
    {
        while (!open.empty() && open.back() <= slice.begin) open.pop_back();
        if (!open.empty() && slice.end > open.back()) return false;
        open.push_back(slice.end);
        slices.push_back(slice);
        return true;
    }
};

/// As few lanes as a first fit in order of begin finds.
std::vector<SliceLane> lanes_of(std::vector<Slice> slices)
{
    // What is around another event is recorded after it: of two that last equally long, the later is outside.
    // Those that take no time keep their order.
    std::ranges::sort(slices, [](const Slice& a, const Slice& b) {
        if (a.begin != b.begin) return a.begin < b.begin;
        if (a.end != b.end) return a.end > b.end;
        return a.end > a.begin ? a.number > b.number : a.number < b.number;
    });
    std::vector<SliceLane> lanes;
    for (const Slice& slice : slices) {
        const bool taken =
            std::ranges::any_of(lanes, [&slice](SliceLane& lane) { return lane.takes(slice); });
        if (!taken) lanes.emplace_back().takes(slice);
    }
    return lanes;
}

json arguments_of(const Event& event)
{
    json arguments{{"seconds", event.end - event.begin}};
    if (event.flops > 0.0) arguments["flops"] = event.flops;
    if (event.bytes > 0) arguments["bytes"] = event.bytes;
    if (event.peer >= 0) arguments["peer"] = event.peer;
    if (event.micro_batch >= 0) arguments["micro_batch"] = event.micro_batch;
    if (event.chunk >= 0) arguments["chunk"] = event.chunk;
    return arguments;
}

/// The lane an event belongs to. What a stream does itself comes one after the other or nested; a message
/// that is sent goes on beside it.
std::string_view lane_name(const Event& event)
{
    const Work work = work_of(event);
    if (event.stream == Stream::communication)
        return work == Work::send ? "communication send" : "communication";
    return work == Work::send || work == Work::receive ? name_of(work) : name_of(Work::compute);
}

class ChromeTrace {
  public:
    void add(const RankTrace& trace)
    {
        metadata("process_name", trace.rank, 0, {{"name", fmt::format("device {}", trace.rank)}});
        metadata("process_sort_index", trace.rank, 0, {{"sort_index", trace.rank}});
        if (trace.budget != RankTrace{}.budget)
            metadata("process_labels", trace.rank, 0, {{"labels", "budget " + format_bytes(trace.budget)}});
        int thread = 0;
        for (const char* name : {"compute", "send", "receive", "communication", "communication send"})
            add_lanes(trace, name, thread);
        add_memory(trace);
    }

    /// One event a line.
    std::string text() const
    {
        return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + events_ + "\n]}\n";
    }

  private:
    void append(const json& event)
    {
        if (!events_.empty()) events_ += ",\n";
        events_ += event.dump(-1, ' ', false, json::error_handler_t::replace);
    }

    void metadata(const char* what, int rank, int thread, const json& arguments)
    {
        append({{"ph", "M"}, {"name", what}, {"pid", rank}, {"tid", thread}, {"args", arguments}});
    }

    /// `thread` is the last one used; 0 is left out, which viewers take for an idle process.
    void add_lanes(const RankTrace& trace, std::string_view group, int& thread)
    {
        std::vector<Slice> slices;
        for (const Event& event : trace.events)
            if (lane_name(event) == group)
                slices.push_back(
                    {&event, slices.size(), std::llround(event.begin * 1e9), std::llround(event.end * 1e9)});
        int number = 0;
        for (const SliceLane& lane : lanes_of(std::move(slices))) {
            ++thread;
            std::string name(group);
            if (++number > 1) name += fmt::format(" {}", number);
            metadata("thread_name", trace.rank, thread, {{"name", name}});
            metadata("thread_sort_index", trace.rank, thread, {{"sort_index", thread}});
            for (const Slice& slice : lane.slices)
                append({{"ph", "X"},
                        {"name", slice.event->name},
                        {"cat", slice.event->kind},
                        {"pid", trace.rank},
                        {"tid", thread},
                        {"ts", microseconds(slice.begin)},
                        {"dur", microseconds(slice.end - slice.begin)},
                        {"args", arguments_of(*slice.event)}});
        }
    }

    void add_memory(const RankTrace& trace)
    {
        if (trace.memory.empty()) return;
        for (const MemoryPoint& point : memory_curve(trace.memory, 0.0, 0.0)) {
            json bytes;
            for (int i = 0; i < category_count; ++i)
                bytes[std::string(name_of(static_cast<Category>(i)))] = point.by[static_cast<std::size_t>(i)];
            append({{"ph", "C"},
                    {"name", "memory"},
                    {"pid", trace.rank},
                    {"ts", microseconds(std::llround(point.time * 1e9))},
                    {"args", bytes}});
        }
    }

    std::string events_;
};

}  // namespace

std::vector<std::uint8_t> to_bytes(const RankTrace& trace)
{
    json events = json::array();
    for (const Event& event : trace.events) events.push_back(array_of(event));
    json memory = json::array();
    for (const MemorySample& sample : trace.memory) memory.push_back(array_of(sample));
    return json::to_cbor({{"rank", trace.rank},
                          {"budget", trace.budget},
                          {"events", std::move(events)},
                          {"memory", std::move(memory)}});
}

RankTrace from_bytes(std::span<const std::uint8_t> bytes)
{
    try {
        const json read = json::from_cbor(bytes.begin(), bytes.end());
        RankTrace trace{read.at("rank"), read.at("budget"), {}, {}};
        for (const json& event : read.at("events")) trace.events.push_back(event_of(event));
        for (const json& sample : read.at("memory")) trace.memory.push_back(sample_of(sample));
        return trace;
    } catch (const std::exception& error) {
        throw Error(fmt::format("{} bytes are not a rank's trace: {}", bytes.size(), error.what()));
    }
}

void write_chrome_trace(const std::string& path, std::span<const RankTrace> traces)
{
    check_times(traces);
    ChromeTrace chrome;
    for (const RankTrace& trace : traces) chrome.add(trace);
    write_text(path, chrome.text());
}

std::string printable(std::string_view text)
{
    const std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
    std::string clean = json::parse(quoted).get<std::string>();
    std::ranges::replace_if(
        clean, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    return clean;
}

}  // namespace shardlings
