// Traces as messages and as Chrome's JSON, and the arrangement that both kinds of file are drawn from.
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>

#include "lib/tools/trace/memory_curve.hpp"
#include "lib/tools/trace/timeline.hpp"
#include "tests/lib/catch.hpp"
#include "tests/lib/trace_chrome.hpp"
#include "tests/lib/trace_synthetic.hpp"

using namespace shardlings;
using nlohmann::json;

namespace {

Event event(const char* name, const char* kind, double begin, double end, int micro_batch = -1)
{
    return {name, kind, begin, end, 0.0, 0, -1, micro_batch};
}

bool same_bits(double a, double b)
{
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

TEST_CASE("a trace survives being sent, bit for bit", "[trace]")
{
    RankTrace trace;
    trace.rank = 3;
    trace.events = {{"forward h.0 ü", "forward", 0.1, 1.0 / 3.0, 1e300, 0, -1, 7},
                    {"", "send", -0.0, 5e-324, 0.0, std::numeric_limits<std::uint64_t>::max(), 31, -1,
                     Stream::communication}};
    constexpr auto largest = std::numeric_limits<std::int64_t>::max();
    trace.memory = {{0.1 + 0.2, Category::workspace, -largest}, {1e-9, Category::parameters, largest}};
    for (const std::uint64_t budget : {std::uint64_t{1}, std::numeric_limits<std::uint64_t>::max()}) {
        trace.budget = budget;
        const RankTrace read = from_bytes(to_bytes(trace));
        CHECK(read.rank == 3);
        CHECK(read.budget == budget);
        REQUIRE(read.events.size() == 2);
        for (std::size_t i = 0; i < 2; ++i) {
            const Event& a = trace.events[i];
            const Event& b = read.events[i];
            CHECK((a.name == b.name && a.kind == b.kind && a.bytes == b.bytes && a.peer == b.peer &&
                   a.micro_batch == b.micro_batch));
            CHECK(a.stream == b.stream);
            CHECK((same_bits(a.begin, b.begin) && same_bits(a.end, b.end) && same_bits(a.flops, b.flops)));
        }
        REQUIRE(read.memory.size() == 2);
        for (std::size_t i = 0; i < 2; ++i) {
            CHECK(same_bits(trace.memory[i].time, read.memory[i].time));
            CHECK(trace.memory[i].category == read.memory[i].category);
            CHECK(trace.memory[i].change == read.memory[i].change);
        }
    }
    CHECK(from_bytes(to_bytes(RankTrace{})).events.empty());
}

TEST_CASE("bytes that are no trace are refused", "[trace]")
{
    std::vector<std::uint8_t> bytes = to_bytes(gpipe_traces(1, 2)[0]);
    bytes.pop_back();
    CHECK(contains(error_of([&] { from_bytes(bytes); }), "not a rank's trace"));
    CHECK(contains(error_of([] { from_bytes({}); }), "0 bytes are not a rank's trace"));
    json foreign{{"rank", 0}, {"budget", 1}, {"events", json::array()}, {"memory", {{0.0, 6, 1}}}};
    CHECK(contains(error_of([&] { from_bytes(json::to_cbor(foreign)); }), "category 6"));
    foreign["events"] = {{"send", "send", 0.0, 1.0, 0.0, 64, 1, -1, 2}};
    CHECK(contains(error_of([&] { from_bytes(json::to_cbor(foreign)); }), "stream 2"));
}

TEST_CASE("a Chrome trace holds every event in microseconds, by rank and lane", "[trace]")
{
    RankTrace trace;
    trace.rank = 5;
    trace.budget = 1 << 20;
    trace.events = {{"forward h.0", "forward", 1.5e-6, 4e-6, 123.0, 0, -1, 2},
                    {"send", "send", 4e-6, 4.25e-6, 0.0, 64, 1, -1},
                    {"receive", "receive", 5e-6, 5e-6, 0.0, 64, 0, -1}};
    const std::vector<json> slices = chrome_events({trace}, "X");
    REQUIRE(slices.size() == 3);
    CHECK(slices[0].at("name") == "forward h.0");
    CHECK(slices[0].at("cat") == "forward");
    CHECK(slices[0].at("pid") == 5);
    CHECK(slices[0].at("ts") == 1.5);
    CHECK(slices[0].at("dur") == 2.5);
    CHECK(slices[0].at("args") == json({{"flops", 123.0}, {"micro_batch", 2}, {"seconds", 4e-6 - 1.5e-6}}));
    CHECK(slices[1].at("dur") == 0.25);
    CHECK(slices[1].at("args").at("peer") == 1);
    CHECK(slices[1].at("args").at("bytes") == 64);
    CHECK(slices[2].at("dur") == 0.0);
    CHECK(lane_of({trace}, "forward h.0") == "compute");
    CHECK(lane_of({trace}, "send") == "send");
    CHECK(lane_of({trace}, "receive") == "receive");

    std::map<std::string, json> about;
    for (const json& meta : chrome_events({trace}, "M")) about[meta.at("name")] = meta.at("args");
    CHECK(about.at("process_name").at("name") == "device 5");
    CHECK(about.at("process_labels").at("labels") == "budget 1 MiB");
    trace.budget = RankTrace{}.budget;
    for (const json& meta : chrome_events({trace}, "M")) CHECK(meta.at("name") != "process_labels");
}

TEST_CASE("slices of a Chrome lane lie in order, inside each other or apart", "[trace]")
{
    std::vector<RankTrace> traces = gpipe_traces(3, 4);
    // Two links at work at once, and times whose sums round: neighbours must not overlap by a nanosecond.
    traces[0].events.push_back(event("intra", "send", 1e-6, 3e-6));
    traces[0].events.push_back(event("inter", "send", 2e-6, 9e-6));
    traces[0].events.push_back(event("step 1", "step", 0.0, 18e-6));
    double time = 0.0;
    for (int i = 0; i < 1000; ++i) {
        const double begin = time;
        time += 1e-9 / 3.0 * (1 + i % 7);
        traces[1].events.push_back(event("wait", "receive", begin, time));
    }
    CHECK(lane_of(traces, "intra") == "send");
    CHECK(lane_of(traces, "inter") == "send 2");
    CHECK(lane_of(traces, "step 1") == "compute");

    std::map<std::pair<int, int>, std::vector<std::pair<std::int64_t, std::int64_t>>> open;
    std::map<std::pair<int, int>, std::int64_t> last;
    for (const json& slice : chrome_events(traces, "X")) {
        const auto begin = std::llround(slice.at("ts").get<double>() * 1e3);
        const auto end = begin + std::llround(slice.at("dur").get<double>() * 1e3);
        const std::pair<int, int> lane{slice.at("pid"), slice.at("tid")};
        CHECK(begin >= last[lane]);
        last[lane] = begin;
        auto& around = open[lane];
        while (!around.empty() && around.back().second <= begin) around.pop_back();
        if (!around.empty()) CHECK(end <= around.back().second);
        around.emplace_back(begin, end);
    }
    CHECK(open.size() == 6);
}

TEST_CASE("counters of a Chrome trace hold the bytes of every category", "[trace]")
{
    RankTrace trace;
    trace.memory = {{0.0, Category::parameters, 100},
                    {1e-6, Category::workspace, 7},
                    {1e-6, Category::workspace, -7},
                    {2e-6, Category::gradients, 30}};
    std::vector<std::pair<double, int>> totals;
    for (const json& counter : chrome_events({trace}, "C")) {
        REQUIRE(counter.at("args").size() == category_count);
        int total = 0;
        for (const json& bytes : counter.at("args")) total += bytes.get<int>();
        totals.emplace_back(counter.at("ts"), total);
    }
    // The workspace that came and went within an instant is there.
    const std::vector<std::pair<double, int>> expected{
        {0.0, 0}, {0.0, 100}, {1.0, 107}, {1.0, 100}, {2.0, 130}};
    CHECK(totals == expected);
}

TEST_CASE("a Chrome trace of nothing is still one, and names cannot break it", "[trace]")
{
    CHECK(chrome_events({}, "X").empty());
    CHECK(chrome_events({RankTrace{}}, "C").empty());
    RankTrace trace;
    trace.events = {event("a\"b\\\n<\x01", "compute", 0.0, 1.0), event("\xff", "compute", 1.0, 2.0)};
    const std::vector<json> slices = chrome_events({trace}, "X");
    CHECK(slices[0].at("name") == "a\"b\\\n<\x01");
    CHECK(slices[1].at("name") == "\xef\xbf\xbd");
}

TEST_CASE("events nest, and the modules of a micro-batch get a box around them", "[trace]")
{
    const std::vector<Event> events{
        event("forward wte", "forward", 0.0, 1.0, 0), event("attention", "compute", 1.0, 2.0),
        event("forward h.0", "forward", 1.0, 3.0, 0), event("forward wte", "forward", 3.0, 4.0, 1),
        event("forward wte", "forward", 5.0, 6.0, 1), event("nothing", "forward", 6.0, 6.0, 1),
        event("optimizer", "compute", 6.0, 7.0)};
    const std::vector<Box> boxes = compute_boxes(events);
    std::string drawn;
    for (const Box& box : boxes)
        drawn += fmt::format("{}{} {} {};", std::string(static_cast<std::size_t>(box.depth), ' '),
                             box.event.name, name_of(box.work), box.has_children ? "around" : "alone");
    CHECK(drawn ==
          "forward forward around; forward wte forward alone; forward h.0 forward around;"
          "  attention forward alone;forward wte forward alone;forward wte forward alone;"
          "optimizer optimizer alone;");
}

TEST_CASE("a device is idle where it computes nothing or waits", "[trace]")
{
    const std::vector<Event> events{event("forward", "forward", 1.0, 5.0), event("x", "compute", 2.0, 3.0),
                                    event("receive", "receive", 2.0, 2.5), event("send", "send", 0.0, 9.0),
                                    event("wait", "wait", 4.0, 7.0),       event("step", "step", 0.0, 9.0)};
    const std::vector<Span> busy = busy_spans(events);
    REQUIRE(busy.size() == 2);
    CHECK((busy[0].begin == 1.0 && busy[0].end == 2.0 && busy[1].begin == 2.5 && busy[1].end == 4.0));
    CHECK(seconds_within(busy, {0.0, 9.0}) == 2.5);
    CHECK(seconds_within(busy, {1.5, 3.0}) == 1.0);
}

TEST_CASE("thinning memory samples loses no peak", "[trace]")
{
    std::vector<MemorySample> samples;
    for (int i = 0; i < 1000; ++i) {
        const double time = 1e-3 * i;
        const std::int64_t held = i == 617 ? 5000 : 10;
        samples.push_back({time, Category::activations, held});
        samples.push_back({time, Category::activations, -held});
    }
    const std::vector<MemoryPoint> curve = memory_curve(samples, 0.0, 0.1);
    // Ten intervals, each with its largest, and the state at the end of one.
    CHECK(curve.size() <= 12);
    CHECK(peak_of(curve) == 5000);
    CHECK(curve.back().total() == 0);
    for (std::size_t i = 1; i < curve.size(); ++i) CHECK(curve[i - 1].time <= curve[i].time);
    // What came before the window is its first state.
    CHECK(memory_curve({{{0.0, Category::gradients, 9}}}, 0.5, 0.1).front().total() == 9);
}

TEST_CASE("a trace that cannot be written says why and leaves nothing", "[trace]")
{
    const TemporaryFolder folder;
    const std::vector<RankTrace> traces = gpipe_traces(1, 1);
    std::filesystem::create_directory(folder / "folder.svg");
    std::ofstream(folder / "file") << "x";
    for (const std::string name : {"missing/t.svg", "missing/t.json", "folder.svg", "file/t.json"}) {
        const std::string path = folder / name;
        const std::string message = error_of([&] { write_trace(path, traces); });
        CHECK(contains(message, "cannot write '" + path + "'"));
    }
    for (const std::string name : {"t", "t.png", "svg", ".json", "t.json.gz"}) {
        const std::string message = error_of([&] { write_trace(folder / name, traces); });
        CHECK(contains(message, ".json"));
        CHECK(contains(message, ".svg"));
    }
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("an event without proper times is refused by name", "[trace]")
{
    const TemporaryFolder folder;
    for (const double end : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        RankTrace trace;
        trace.rank = 4;
        trace.events = {event("forward h.1", "forward", 0.0, end)};
        for (const char* name : {"t.svg", "t.json"}) {
            const std::string message = error_of([&] { write_trace(folder / name, {{trace}}); });
            CHECK(contains(message, "rank 4: the event 'forward h.1'"));
        }
    }
}
