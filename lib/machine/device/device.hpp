// Device: the simulated GPU of one rank. It owns a memory budget, a clock, and the record of what happened.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/machine/base/error.hpp"
#include "lib/machine/device/clock.hpp"
#include "lib/machine/device/event.hpp"
#include "lib/machine/device/topology.hpp"

namespace shardlings {

class Device;

std::string_view name_of(Category category);

/// An allocation did not fit the budget. what() names the rank, the request, the budget and the breakdown.
struct DeviceOutOfMemory : Error {
    using Error::Error;
};

/// Move-only owner of device memory; gives it back when destroyed. Must not outlive its Device.
class Allocation {
  public:
    Allocation() = default;
    Allocation(Allocation&& other) noexcept;
    Allocation& operator=(Allocation&& other) noexcept;
    ~Allocation();

    std::byte* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }
    Category category() const { return category_; }
    Device& device() const { return *device_; }

  private:
    friend class Device;
    Allocation(Device& device, std::byte* data, std::size_t bytes, Category category)
        : device_(&device), data_(data), bytes_(bytes), category_(category)
    {
    }

    Device* device_ = nullptr;
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    Category category_ = Category::workspace;
};

/// Bytes in use, now and at most so far. Every category has its own peak; `peak` is that of the sum.
struct MemoryUse {
    std::array<std::uint64_t, category_count> current_by{};
    std::array<std::uint64_t, category_count> peak_by{};
    std::uint64_t current = 0;
    std::uint64_t peak = 0;

    std::uint64_t current_of(Category category) const
    {
        return current_by[static_cast<std::size_t>(category)];
    }
    std::uint64_t peak_of(Category category) const { return peak_by[static_cast<std::size_t>(category)]; }
};

/// Messages and payload bytes sent, in all and by the peer's world rank.
struct Traffic {
    struct Count {
        std::uint64_t messages = 0;
        std::uint64_t bytes = 0;
    };
    Count total;
    Count inter_node;
    std::map<int, Count> to;

    void add(int peer, std::uint64_t bytes, bool crosses_nodes);
};

struct DeviceOptions {
    int rank = 0;
    std::uint64_t budget = std::numeric_limits<std::uint64_t>::max();  // bytes
    Topology topology;
    bool record = false;  // keep events and memory samples for the trace
    bool poison = false;  // fill new and freed memory with NaN, and end when somebody writes beside it
    // A send ends only when the receiver has asked for the message, however short it is: a program that
    // counts on MPI keeping short messages then stops instead of working by luck. Does not change virtual
    // time.
    bool synchronous = false;
};

class Device {
  public:
    explicit Device(const DeviceOptions& options);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    int rank() const { return options_.rank; }
    const Topology& topology() const { return options_.topology; }
    std::uint64_t budget() const { return options_.budget; }
    bool synchronous() const { return options_.synchronous; }

    /// `bytes` of memory, aligned to 64, contents unspecified. DeviceOutOfMemory when the budget does not
    /// allow it.
    Allocation allocate(std::size_t bytes, Category category);

    /// Bytes that can still be allocated.
    std::uint64_t available() const { return options_.budget - memory_.current; }
    const MemoryUse& memory() const { return memory_; }
    /// Forgets the peaks: from now on they are those of what follows.
    void reset_peaks();

    /// The clock of the stream that is in use: compute, unless an OnStream says otherwise.
    Clock& clock() { return clocks_[static_cast<std::size_t>(stream_)]; }
    const Clock& clock() const { return clocks_[static_cast<std::size_t>(stream_)]; }
    Stream stream() const { return stream_; }
    /// Charges the clock with `flops` floating-point operations; `wall_seconds` is what they took on this
    /// machine.
    void compute(double flops, double wall_seconds = 0.0);
    /// All operations charged so far.
    double flops() const { return flops_; }
    /// Real seconds that this machine has spent on them. For benchmarks only: they differ from run to run.
    double wall_seconds() const { return wall_seconds_; }

    /// When this device's link (inside the node, or out of it) is free to carry the next message.
    double& egress_free(bool crosses_nodes) { return egress_free_[crosses_nodes ? 1 : 0]; }

    Traffic& traffic() { return traffic_; }
    const Traffic& traffic() const { return traffic_; }

    bool recording() const { return options_.record; }
    void record(Event event);
    const std::vector<Event>& events() const { return events_; }
    const std::vector<MemorySample>& memory_samples() const { return memory_samples_; }

  private:
    friend class Allocation;
    friend class OnStream;
    void release(const Allocation& allocation) noexcept;
    void count(Category category, std::int64_t change);
    std::string out_of_memory_message(std::size_t bytes, Category category) const;

    DeviceOptions options_;
    MemoryUse memory_;
    std::array<Clock, stream_count> clocks_;
    Stream stream_ = Stream::compute;
    double flops_ = 0.0;
    double wall_seconds_ = 0.0;
    std::array<double, 2> egress_free_{};
    Traffic traffic_;
    std::vector<Event> events_;
    std::vector<MemorySample> memory_samples_;
};

/// While it lives, what the device computes, sends and receives takes the time of `stream`, beginning when
/// the stream has done what it was given before and not before now. The code itself still runs here and at
/// once; only virtual time goes on beside:
///
///   double done;
///   {
///       const OnStream communication(device, Stream::communication);
///       ring_all_reduce(comm, bucket);
///       done = device.clock().now();
///   }
///   …                                 // compute meanwhile, without touching the bucket
///   device.clock().wait_until(done);  // the time that this idles is exposed communication
class OnStream {
  public:
    OnStream(Device& device, Stream stream);
    ~OnStream() { device_.stream_ = before_; }
    OnStream(const OnStream&) = delete;
    OnStream& operator=(const OnStream&) = delete;

  private:
    Device& device_;
    Stream before_;
};

}  // namespace shardlings
