#include "lib/tools/grade/driver_frames.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "lib/machine/base/error.hpp"
#include "lib/machine/device/observer.hpp"

namespace grade {

namespace {

using shardlings::Category;
using shardlings::Device;

/// Of this process: what devices do is told to functions that know nothing else.
struct Frames {
    int pipe = -1;
    std::uint64_t next_number = 0;
    const Device* device = nullptr;
    std::int64_t heap_begin = 0;
    std::int64_t heap_told = 0;
};
Frames frames;

void write_all(const void* data, std::size_t size)
{
    const auto* bytes = static_cast<const char*>(data);
    while (size > 0 && frames.pipe >= 0) {
        const ssize_t written = write(frames.pipe, bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) _exit(1);  // nobody listens any more
        bytes += written;
        size -= static_cast<std::size_t>(written);
    }
}

void tell_heap()
{
    constexpr std::int64_t step = 1024;  // bytes; smaller growth is not told
    const std::int64_t grown = heap_in_use() - frames.heap_begin;
    if (grown < frames.heap_told + step) return;
    frames.heap_told = grown;
    send_frame({.kind = FrameKind::heap_peak, .amount = grown});
}

void tell(const Device& device, Frame frame)
{
    if (&device != frames.device) return;
    frame.stream = static_cast<std::int32_t>(device.stream());
    frame.now = device.clock().now();
    send_frame(frame);
}

}  // namespace

void open_frames(const std::string& pipe)
{
    frames.pipe = open(pipe.c_str(), O_WRONLY | O_CLOEXEC);
    shardlings::check(frames.pipe >= 0, "cannot open {}: {}", pipe, std::strerror(errno));
}

void number_frames_from(std::uint64_t number)
{
    frames.next_number = number;
}

void send_frame(Frame frame)
{
    frame.number = frames.next_number++;
    write_all(&frame, sizeof frame);
}

void send_bytes(std::span<const std::uint8_t> bytes)
{
    write_all(bytes.data(), bytes.size());
}

void observe(const Device* device)
{
    frames.device = device;
    frames.heap_begin = heap_in_use();
    frames.heap_told = 0;
}

void send_measuring(FrameKind kind)
{
    if (frames.device != nullptr) tell(*frames.device, {.kind = kind});
    if (kind == FrameKind::measuring) observe(frames.device);
}

void heap_has_grown()
{
    if (frames.device != nullptr) tell_heap();
}

}  // namespace grade

namespace shardlings {

void memory_changed(const Device& device, Category category, std::int64_t change) noexcept
{
    grade::tell(device, {.kind = grade::FrameKind::memory_changed,
                         .category = static_cast<std::int32_t>(category),
                         .amount = change});
}

void peaks_forgotten(const Device& device) noexcept
{
    grade::tell(device, {.kind = grade::FrameKind::peaks_forgotten});
}

void computed(const Device& device, double flops) noexcept
{
    grade::tell(device, {.kind = grade::FrameKind::computed, .value = flops});
}

void message_sent(const Device& device, int peer, std::uint64_t bytes, double arrival) noexcept
{
    grade::tell(device, {.kind = grade::FrameKind::message_sent,
                         .peer = peer,
                         .amount = static_cast<std::int64_t>(bytes),
                         .value = arrival});
}

void message_waited(const Device& device, bool receives, int peer, std::uint64_t bytes,
                    double arrival) noexcept
{
    grade::tell(device, {.kind = grade::FrameKind::message_waited,
                         .category = receives ? 1 : 0,
                         .peer = peer,
                         .amount = static_cast<std::int64_t>(bytes),
                         .value = arrival});
}

}  // namespace shardlings
