// What a driver in a sandbox tells its judge while it happens.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lib/machine/device/device.hpp"
#include "lib/tools/grade/protocol.hpp"

namespace grade {

/// Opens the pipe that frames go to; until then they go nowhere.
void open_frames(const std::string& pipe);
/// The next frame's number, which the judge has chosen.
void number_frames_from(std::uint64_t number);
/// Each frame is numbered and written before this returns, so that nobody can change it later.
void send_frame(Frame frame);
void send_bytes(std::span<const std::uint8_t> bytes);

/// What happens on this device is told from now on; nullptr: on none. Also begins to count the heap anew.
void observe(const shardlings::Device* device);
/// A frame with the clock of the observed device; `measuring` counts the heap anew.
void send_measuring(FrameKind kind);

/// The bytes that malloc and operator new have given out, in all threads, less those that came back. Memory
/// of devices is not among them. 0 where it cannot be counted.
std::int64_t heap_in_use();
/// Tells the judge when the heap has become larger than it was told.
void heap_has_grown();

}  // namespace grade
