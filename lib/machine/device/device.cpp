#include "lib/machine/device/device.hpp"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "lib/machine/base/counted.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/machine/device/observer.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace shardlings {

namespace {

constexpr std::align_val_t alignment{64};
constexpr int poison_byte = 0xff;          // a NaN in every floating-point type
constexpr std::size_t guard_bytes = 4096;  // on both sides of poisoned memory; a multiple of the alignment
// 32.5, 3, 3 and 2.125 in the four types: reading it shows, and so does adding to it, which a NaN swallows.
constexpr std::byte guard_byte{0x40};

constexpr std::array<std::string_view, category_count> category_names{
    "parameters", "gradients", "optimizer states", "activations", "communication buffers", "workspace"};

/// How many bytes of a guard, counted from the memory it guards, were written to.
template <class Iterator>
std::size_t overrun(Iterator nearest)
{
    std::size_t written = 0;
    for (std::size_t i = 0; i < guard_bytes; ++i, ++nearest)
        if (*nearest != guard_byte) written = i + 1;
    return written;
}

/// Ends the process, with the stack, when somebody wrote beside the memory: later it could not be told where.
void check_guards(int rank, const std::byte* data, std::size_t bytes, Category category) noexcept
{
    const std::size_t before = overrun(std::reverse_iterator<const std::byte*>(data));
    const std::size_t behind = overrun(data + bytes);
    if (before == 0 && behind == 0) return;
    fmt::print(stderr, "rank {}: written up to {} {} {} of {}: is an index or a loop's end wrong?\n", rank,
               counted(behind > 0 ? behind : before, "byte"),
               behind > 0 ? "past the end of" : "before the begin of", counted(bytes, "byte"),
               name_of(category));
    std::abort();
}

}  // namespace

std::string_view name_of(Category category)
{
    return category_names.at(static_cast<std::size_t>(category));
}

Allocation::Allocation(Allocation&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      category_(other.category_)
{
}

Allocation& Allocation::operator=(Allocation&& other) noexcept
{
    Allocation old(std::move(*this));
    device_ = std::exchange(other.device_, nullptr);
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    category_ = other.category_;
    return *this;
}

Allocation::~Allocation()
{
    if (device_ != nullptr) device_->release(*this);
}

void Traffic::add(int peer, std::uint64_t bytes, bool crosses_nodes)
{
    const auto add_to = [bytes](Count& count) {
        ++count.messages;
        count.bytes += bytes;
    };
    add_to(total);
    add_to(to[peer]);
    if (crosses_nodes) add_to(inter_node);
}

Device::Device(const DeviceOptions& options) : options_(options)
{
#ifdef __GLIBC__
    // Tensors come and go thousands of times a second; without this each large one is mapped and faulted in
    // anew.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

Device::~Device()
{
    assert(memory_.current == 0 && "an Allocation outlives its Device");
}

Allocation Device::allocate(std::size_t bytes, Category category)
{
    if (bytes > available()) throw DeviceOutOfMemory(out_of_memory_message(bytes, category));
    const std::size_t guard = options_.poison ? guard_bytes : 0;
    std::byte* data = nullptr;
    try {
        data =
            static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes + 2 * guard, 1), alignment));
    } catch (const std::bad_alloc&) {
        throw DeviceOutOfMemory(
            fmt::format("rank {}: this machine has no {} left for a simulated device: use a smaller model, "
                        "batch or number of ranks",
                        options_.rank, format_bytes(bytes)));
    }
    std::memset(data, std::to_integer<int>(guard_byte), guard);
    data += guard;
    std::memset(data + bytes, std::to_integer<int>(guard_byte), guard);
    if (options_.poison) std::memset(data, poison_byte, bytes);
    count(category, static_cast<std::int64_t>(bytes));
    return Allocation(*this, data, bytes, category);
}

void Device::release(const Allocation& allocation) noexcept
{
    if (options_.poison) {
        check_guards(options_.rank, allocation.data_, allocation.bytes_, allocation.category_);
        std::memset(allocation.data_, poison_byte, allocation.bytes_);
    }
    ::operator delete(allocation.data_ - (options_.poison ? guard_bytes : 0), alignment);
    count(allocation.category_, -static_cast<std::int64_t>(allocation.bytes_));
}

void Device::count(Category category, std::int64_t change)
{
    auto& by = memory_.current_by[static_cast<std::size_t>(category)];
    by += static_cast<std::uint64_t>(change);
    memory_.current += static_cast<std::uint64_t>(change);
    auto& peak_by = memory_.peak_by[static_cast<std::size_t>(category)];
    peak_by = std::max(peak_by, by);
    memory_.peak = std::max(memory_.peak, memory_.current);
    if (options_.record) memory_samples_.push_back({clock().now(), category, change});
    memory_changed(*this, category, change);
}

void Device::reset_peaks()
{
    memory_.peak_by = memory_.current_by;
    memory_.peak = memory_.current;
    peaks_forgotten(*this);
}

void Device::compute(double flops, double wall_seconds)
{
    flops_ += flops;
    wall_seconds_ += wall_seconds;
    clock().advance(flops / options_.topology.flops);
    computed(*this, flops);
}

void Device::record(Event event)
{
    if (!options_.record) return;
    event.stream = stream_;
    events_.push_back(std::move(event));
}

OnStream::OnStream(Device& device, Stream stream) : device_(device), before_(device.stream_)
{
    const double now = device.clock().now();
    device.stream_ = stream;
    device.clock().wait_until(now);
}

std::string Device::out_of_memory_message(std::size_t bytes, Category category) const
{
    std::string text = fmt::format(
        "rank {}: device out of memory: {} more for {} do not fit, {} of the budget of {} are in use:\n",
        options_.rank, format_bytes(bytes), name_of(category), format_bytes(memory_.current),
        format_bytes(options_.budget));
    for (int i = 0; i < category_count; ++i) {
        const auto used = static_cast<Category>(i);
        if (memory_.current_of(used) > 0)
            text += fmt::format("  {:<22}{:>12}\n", name_of(used), format_bytes(memory_.current_of(used)));
    }
    return text +
           "Make the model, the batch or the sequence smaller, spread it over more devices, or raise "
           "--memory-budget.";
}

}  // namespace shardlings
