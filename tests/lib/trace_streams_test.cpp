// Traces of devices that communicate beside computing: two lanes, and records out of the order of time.
#include <utility>

#include "lib/tools/trace/memory_curve.hpp"
#include "lib/tools/trace/timeline.hpp"
#include "tests/lib/trace_chrome.hpp"
#include "tests/lib/trace_overlapped.hpp"
#include "tests/lib/trace_picture.hpp"

using namespace shardlings;

namespace {

std::vector<std::pair<double, std::uint64_t>> totals_of(std::span<const MemorySample> samples)
{
    std::vector<std::pair<double, std::uint64_t>> totals;
    for (const MemoryPoint& point : memory_curve(samples, 0.0, 0.0))
        totals.emplace_back(point.time, point.total());
    return totals;
}

}  // namespace

TEST_CASE("phases lie inside their collective, and what adds inside it belongs to it", "[trace]")
{
    const auto on_communication = [](const char* name, const char* kind, double begin, double end) {
        return event(name, kind, begin, end, Stream::communication);
    };
    const std::vector<Event> events{on_communication("add", "compute", 1.0, 2.0),
                                    on_communication("reduce-scatter", "communication", 0.0, 2.0),
                                    on_communication("all-gather", "communication", 2.0, 4.0),
                                    on_communication("all-reduce h.1", "communication", 0.0, 4.0),
                                    on_communication("broadcast", "communication", 5.0, 6.0),
                                    on_communication("fetch h.0", "communication", 5.0, 6.0),
                                    event("backward h.1", "backward", 0.0, 9.0)};
    std::string drawn;
    for (const Box& box : communication_boxes(events))
        drawn += fmt::format("{}{} {};", std::string(static_cast<std::size_t>(box.depth), ' '),
                             box.event.name, name_of(box.work));
    CHECK(drawn ==
          "all-reduce h.1 communication; reduce-scatter communication;  add communication;"
          " all-gather communication;fetch h.0 communication; broadcast communication;");
    CHECK(compute_boxes(events).size() == 1);
    CHECK(seconds_within(busy_spans(events), {0.0, 1.0}) == 9.0 * us);
}

TEST_CASE("a Chrome trace has threads for compute and communication", "[trace]")
{
    RankTrace trace = overlapped();
    trace.events.push_back(event("own send", "send", 0.0, 1.0));
    trace.events.push_back(event("stream's send", "send", 5.0, 7.5, Stream::communication));
    trace.events.push_back(event("stream's receive", "receive", 14.0, 15.0, Stream::communication));
    trace.events.push_back(event("short", "communication", 15.0, 16.0, Stream::communication));
    trace.events.push_back(event("around short", "communication", 15.0, 16.0, Stream::communication));
    CHECK(lane_of({trace}, "backward h.0") == "compute");
    CHECK(lane_of({trace}, "optimizer") == "compute");
    CHECK(lane_of({trace}, "own send") == "send");
    CHECK(lane_of({trace}, "stream's receive") == "communication");
    CHECK(lane_of({trace}, "stream's send") == "communication send 2");  // the all-reduce's is under way

    std::vector<std::string> communication;
    for (const nlohmann::json& slice : chrome_events({trace}, "X"))
        if (slice.at("cat") == "communication" || slice.at("name") == "all-reduce h.0")
            communication.push_back(slice.at("name"));
    // The wait first, on the compute thread; then by begin, the outer of two that last equally long first.
    const std::vector<std::string> expected{"all-reduce h.0", "all-reduce h.1", "all-reduce h.0",
                                            "around short", "short"};
    CHECK(communication == expected);
}

TEST_CASE("memory samples recorded out of order sum up in the order of time", "[trace]")
{
    RankTrace trace;
    trace.memory = {{4.0 * us, Category::communication, 500}, {9.0 * us, Category::communication, -500},
                    {6.0 * us, Category::activations, 300},   {8.0 * us, Category::activations, -300},
                    {8.0 * us, Category::gradients, 100},     {10.0 * us, Category::gradients, -100}};
    const std::vector<std::pair<double, std::uint64_t>> expected{
        {0.0, 0}, {4.0 * us, 500}, {6.0 * us, 800}, {8.0 * us, 600}, {9.0 * us, 100}, {10.0 * us, 0}};
    // At 8 µs the 300 bytes go before the 100 come, as they were recorded: never 900.
    CHECK(totals_of(trace.memory) == expected);
    CHECK(peak_of(memory_curve(trace.memory, 0.0, 3.0 * us)) == 800);
    CHECK(peak_of(memory_curve(trace.memory, 8.5 * us, 0.0)) == 600);

    CHECK(Picture(svg_of({trace})).texts("peak 800 B") == 1);
    PictureOptions options;
    options.end = 7.0 * us;  // the sample at 9 µs, recorded before that at 6 µs, is not shown
    CHECK(Picture(svg_of({trace}, options)).texts("peak 800 B") == 1);
    double last = 0.0;
    for (const nlohmann::json& counter : chrome_events({trace}, "C")) {
        CHECK(counter.at("ts").get<double>() >= last);
        last = counter.at("ts");
    }
    CHECK(last == 10.0);
}

TEST_CASE("memory given back before the time it was taken at holds nothing", "[trace]")
{
    const std::vector<MemorySample> samples{{10.0, Category::communication, 500},
                                            {5.0, Category::communication, -500},
                                            {0.0, Category::parameters, 40}};
    CHECK(peak_of(memory_curve(samples, 0.0, 0.0)) == 40);
    CHECK(memory_curve(samples, 20.0, 0.0).front().total() == 40);
}

TEST_CASE("a device's record of two streams: lanes, and the peak that virtual time has", "[trace]")
{
    DeviceOptions options;
    options.record = true;
    options.topology.flops = 1e12;  // a million operations take a microsecond
    Device device(options);
    device.compute(4e6);
    double done = 0.0;
    {
        const OnStream communication(device, Stream::communication);
        const Allocation chunk = device.allocate(500, Category::communication);
        const double begin = device.clock().now();
        device.clock().advance(5.0 * us);
        done = device.clock().now();
        device.record({"all-reduce h.0", "communication", begin, done});
    }
    device.compute(2e6);
    {
        const Allocation activations = device.allocate(300, Category::activations);
        device.compute(2e6);
    }
    const double begin = device.clock().now();
    device.clock().wait_until(done);
    device.record({"all-reduce h.0", "wait", begin, device.clock().now()});

    const RankTrace trace = from_bytes(to_bytes(trace_of(device)));
    CHECK(communication_boxes(trace.events).size() == 1);
    REQUIRE(named_waits(trace.events).size() == 1);
    CHECK(named_waits(trace.events)[0].event.begin == begin);
    // The program held them one after the other; on the device's streams they are there at once.
    CHECK(device.memory().peak == 500);
    CHECK(peak_of(memory_curve(trace.memory, 0.0, 0.0)) == 800);
    CHECK(memory_curve(trace.memory, 0.0, 0.0).back().total() == 0);
}
