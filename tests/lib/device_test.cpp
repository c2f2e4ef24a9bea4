#include "lib/machine/device/device.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <span>
#include <string_view>

#include "lib/machine/base/units.hpp"
#include "tests/lib/catch.hpp"

using namespace shardlings;

namespace {

Device device_of(std::uint64_t budget)
{
    DeviceOptions options;
    options.rank = 3;
    options.budget = budget;
    return Device(options);
}

std::string message_of(Device& device, std::size_t bytes, Category category)
{
    try {
        const Allocation memory = device.allocate(bytes, category);
    } catch (const DeviceOutOfMemory& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("Device: the budget is enforced to the byte", "[device]")
{
    Device device = device_of(1000);
    Allocation first = device.allocate(600, Category::parameters);
    REQUIRE(device.available() == 400);
    REQUIRE_THROWS_AS(device.allocate(401, Category::gradients), DeviceOutOfMemory);
    REQUIRE(device.memory().current == 600);  // what failed left nothing behind
    {
        const Allocation second = device.allocate(400, Category::gradients);
        REQUIRE(device.available() == 0);
        REQUIRE_THROWS_AS(device.allocate(1, Category::workspace), DeviceOutOfMemory);
        REQUIRE_NOTHROW(device.allocate(0, Category::workspace));
    }
    REQUIRE(device.available() == 400);
    first = Allocation();
    REQUIRE(device.memory().current == 0);
}

TEST_CASE("Device: current and peak bytes by category and in all", "[device]")
{
    Device device = device_of(1 << 20);
    Allocation weights = device.allocate(100, Category::parameters);
    {
        const Allocation input = device.allocate(30, Category::activations);
        const Allocation output = device.allocate(20, Category::activations);
    }
    const Allocation message = device.allocate(10, Category::communication);
    const MemoryUse& use = device.memory();
    REQUIRE(use.current_of(Category::activations) == 0);
    REQUIRE(use.peak_of(Category::activations) == 50);
    REQUIRE(use.peak_of(Category::communication) == 10);
    REQUIRE(use.peak_of(Category::gradients) == 0);
    REQUIRE(use.current == 110);
    REQUIRE(use.peak == 150);  // not 160: the message came after the activations had gone
    device.reset_peaks();
    REQUIRE(device.memory().peak == 110);
    REQUIRE(device.memory().peak_of(Category::activations) == 0);
}

TEST_CASE("Device: moving an allocation moves its bytes once", "[device]")
{
    Device device = device_of(1000);
    Allocation a = device.allocate(100, Category::parameters);
    Allocation b = device.allocate(200, Category::gradients);
    std::byte* const data = b.data();
    a = std::move(b);
    REQUIRE(a.data() == data);
    REQUIRE(a.category() == Category::gradients);
    REQUIRE(device.memory().current == 200);
    REQUIRE(device.memory().current_of(Category::parameters) == 0);
    const Allocation c(std::move(a));
    REQUIRE(device.memory().current == 200);
    REQUIRE(reinterpret_cast<std::uintptr_t>(c.data()) % 64 == 0);
}

TEST_CASE("Device: poisoned memory holds NaN", "[device]")
{
    DeviceOptions options;
    options.poison = true;
    Device device(options);
    const Allocation memory = device.allocate(1024, Category::activations);
    const std::span doubles(reinterpret_cast<const double*>(memory.data()), 128);
    const std::span floats(reinterpret_cast<const float*>(memory.data()), 256);
    const auto is_nan = [](auto x) { return x != x; };
    REQUIRE(std::ranges::all_of(doubles, is_nan));
    REQUIRE(std::ranges::all_of(floats, is_nan));
}

TEST_CASE("Device: writing beside poisoned memory ends the process, and says where and how far", "[device]")
{
    struct Write {
        std::ptrdiff_t at;
        std::string_view message;
    };
    const auto write =
        GENERATE(Write{24, ""}, Write{25, "rank 3: written up to 2 bytes past the end of 24 bytes"},
                 Write{-8, "rank 3: written up to 8 bytes before the begin of 24 bytes"});
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);  // not the test framework's
        dup2(ends[1], STDERR_FILENO);
        DeviceOptions options;
        options.rank = 3;
        options.poison = true;
        Device device(options);
        {
            const Allocation memory = device.allocate(24, Category::activations);
            if (!write.message.empty()) memory.data()[write.at] = std::byte{1};
        }
        _exit(0);
    }
    close(ends[1]);
    std::array<char, 256> text{};
    const ssize_t count = read(ends[0], text.data(), text.size());
    close(ends[0]);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(std::string_view(text.data(), static_cast<std::size_t>(count)).starts_with(write.message));
    REQUIRE((write.message.empty() ? status == 0 : WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
}

TEST_CASE("Device: out of memory says rank, request, category, budget and what is in use", "[device]")
{
    Device device = device_of(64 << 20);
    const Allocation weights = device.allocate(40 << 20, Category::parameters);
    const Allocation states = device.allocate(3 << 19, Category::optimizer_states);
    REQUIRE(message_of(device, 32 << 20, Category::activations) ==
            "rank 3: device out of memory: 32 MiB more for activations do not fit, 41.5 MiB of the budget of "
            "64 MiB "
            "are in use:\n"
            "  parameters                  40 MiB\n"
            "  optimizer states           1.5 MiB\n"
            "Make the model, the batch or the sequence smaller, spread it over more devices, or raise "
            "--memory-budget.");
}

TEST_CASE("Device: memory and events are recorded only when asked for", "[device]")
{
    for (const bool record : {false, true}) {
        DeviceOptions options;
        options.record = record;
        Device device(options);
        device.compute(312e6);
        const Allocation memory = device.allocate(7, Category::gradients);
        device.record({"step", "step", 0.0, 1.0});
        REQUIRE(device.events().size() == (record ? 1 : 0));
        REQUIRE(device.memory_samples().size() == (record ? 1 : 0));
        if (record) {
            REQUIRE(device.memory_samples()[0].time == 1e-6);
            REQUIRE(device.memory_samples()[0].change == 7);
        }
    }
}

TEST_CASE("Clock: compute takes FLOPs / speed, waiting never goes back", "[device]")
{
    DeviceOptions options;
    options.topology.flops = 4e12;
    Device device(options);
    device.compute(1e12);
    REQUIRE(device.clock().now() == 0.25);
    device.clock().wait_until(0.125);
    REQUIRE(device.clock().now() == 0.25);
    device.clock().wait_until(0.5);
    REQUIRE(device.clock().now() == 0.5);
    REQUIRE(device.flops() == 1e12);
}

TEST_CASE("Topology: 4x8 is 4 nodes of 8 devices, anything else is refused", "[device]")
{
    const Topology topology = parse_topology("4x8");
    REQUIRE(topology.nodes == 4);
    REQUIRE(topology.devices_per_node == 8);
    REQUIRE(topology.devices() == 32);
    REQUIRE(topology.node_of(7) == 0);
    REQUIRE(topology.node_of(8) == 1);
    REQUIRE(topology.link(0, 7) == topology.intra);
    REQUIRE(topology.link(7, 8) == topology.inter);
    REQUIRE(parse_topology("1x1").devices() == 1);
    for (const char* wrong : {"", "4", "x", "4x", "x8", "0x8", "4x0", "-1x8", "4x8x2", "4 x 8", "4X8", "4x8 ",
                              "70000x1", "99999999999999999999x1"}) {
        INFO("'" << wrong << "'");
        REQUIRE_THROWS_AS(parse_topology(wrong), Error);
    }
}

TEST_CASE("Units: bytes as people write them", "[device]")
{
    REQUIRE(parse_bytes("64MiB") == 64u << 20);
    REQUIRE(parse_bytes("1.5 GiB") == 3u << 29);
    REQUIRE(parse_bytes("300kB") == 300'000);
    REQUIRE(parse_bytes("4096") == 4096);
    for (const char* wrong : {"", "MiB", "64 mib", "-1", "0", "1e30", "1.5.5MiB", "nan", "inf"}) {
        INFO("'" << wrong << "'");
        REQUIRE_THROWS_AS(parse_bytes(wrong), Error);
    }
    REQUIRE(format_bytes(0) == "0 B");
    REQUIRE(format_bytes(1023) == "1023 B");
    REQUIRE(format_bytes(1536) == "1.5 KiB");
    REQUIRE(format_bytes(std::uint64_t{3} << 40) == "3 TiB");
    REQUIRE(format_seconds(2e-6) == "2 us");
    REQUIRE(format_seconds(0.0015) == "1.5 ms");
    REQUIRE(format_seconds(90.0) == "90 s");
}
