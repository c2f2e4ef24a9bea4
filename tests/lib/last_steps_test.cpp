// The end of a record, which the report of a long run shows.
#include <fmt/core.h>

#include <vector>

#include "lib/machine/device/device.hpp"
#include "lib/tools/trace/memory_curve.hpp"
#include "lib/tools/trace/trace.hpp"
#include "tests/lib/catch.hpp"

using namespace shardlings;

namespace {

/// Five steps of a second and two events each, after one event that belongs to none. Before the first, 64
/// bytes are held; every step takes 64 more.
struct FiveSteps {
    FiveSteps()
    {
        held.push_back(device.allocate(64, Category::parameters));
        device.record({"load", "compute", 0.0, 1.0});
        device.clock().wait_until(1.0);
        for (int step = 1; step <= 5; ++step) {
            const double begin = device.clock().now();
            held.push_back(device.allocate(64, Category::activations));
            device.clock().wait_until(begin + 1.0);
            device.record({"work", "compute", begin, begin + 1.0});
            device.record({fmt::format("step {}", step), "step", begin, begin + 1.0});
        }
    }

    Device device{[] {
        DeviceOptions options;
        options.record = true;
        return options;
    }()};
    std::vector<Allocation> held;
};

}  // namespace

TEST_CASE("the last steps are whole, and as many as there is room for")
{
    const FiveSteps run;
    for (const auto& [most, first] :
         {std::pair{0, 5}, {3, 5}, {4, 4}, {5, 4}, {6, 3}, {9, 2}, {11, 1}, {1000, 1}}) {
        const RankTrace trace = trace_of_last_steps(run.device, static_cast<std::size_t>(most));
        CAPTURE(most);
        REQUIRE(trace.events.size() == static_cast<std::size_t>(2 * (6 - first)));
        CHECK(trace.events.front().name == "work");
        CHECK(trace.events[1].name == fmt::format("step {}", first));
        CHECK(trace.events.back().name == "step 5");
    }
}

TEST_CASE("the last steps begin with the memory that was held then")
{
    const FiveSteps run;
    const RankTrace trace = trace_of_last_steps(run.device, 4);
    const std::vector<MemoryPoint> curve = memory_curve(trace.memory, 4.0, 0.0);
    REQUIRE(curve.size() == 3);
    CHECK(curve[0].time == 4.0);
    CHECK(curve[0].total() == 64 + 3 * 64);
    CHECK(curve[1].time == 4.0);
    CHECK(curve[1].total() == 64 + 4 * 64);
    CHECK(curve[2].time == 5.0);
    CHECK(curve[2].by == std::array<std::uint64_t, category_count>{64, 0, 0, 5 * 64, 0, 0});
}

TEST_CASE("without steps all of a record is its end")
{
    DeviceOptions options;
    options.record = true;
    Device device(options);
    device.record({"work", "compute", 0.0, 1.0});
    CHECK(trace_of_last_steps(device, 0).events.size() == 1);
}
