// A device's memory over virtual time, as a step function of the bytes of every category.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/machine/device/event.hpp"

namespace shardlings {

/// The bytes of every category from `time` (seconds) until the next point's.
struct MemoryPoint {
    double time;
    std::array<std::uint64_t, category_count> by;

    std::uint64_t total() const;
};

/// The curve that the samples, recorded in any order, describe from `begin` on, which is its first point's
/// time: each category holds the sum of its changes so far, those of one instant in the order they were
/// recorded, and nothing where that sum is negative (given back on a stream that is not yet where it was
/// taken). Of all states within one interval of `resolution` seconds the one with the largest total stands
/// for the whole interval, so that no peak is lost; with resolution 0 that holds for states of the same
/// instant, after which the last of them follows.
std::vector<MemoryPoint> memory_curve(std::span<const MemorySample> samples, double begin, double resolution);

/// The largest total of a curve, bytes.
std::uint64_t peak_of(std::span<const MemoryPoint> curve);

}  // namespace shardlings
