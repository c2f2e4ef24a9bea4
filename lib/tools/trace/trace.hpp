// What the devices of a run did over virtual time, as a file to look at: Chrome trace JSON or an SVG picture.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "lib/machine/device/device.hpp"

namespace shardlings {

/// One device's record: its events and memory samples in the order they were recorded.
struct RankTrace {
    int rank = 0;
    std::uint64_t budget = std::numeric_limits<std::uint64_t>::max();  // bytes; the largest value: no budget
    std::vector<Event> events;
    std::vector<MemorySample> memory;
};

RankTrace trace_of(const Device& device);
/// What is recorded of the last steps only: as many as have `most` events together, and one at least. The
/// memory that is held when they begin is in samples at 0 seconds.
RankTrace trace_of_last_steps(const Device& device, std::size_t most);

/// A RankTrace as a message: from_bytes(to_bytes(t)) equals t bit for bit. Error when the bytes are none.
std::vector<std::uint8_t> to_bytes(const RankTrace& trace);
RankTrace from_bytes(std::span<const std::uint8_t> bytes);

struct PictureOptions {
    std::string title;  // empty: "Timeline of 4 devices"
    int width = 1200;   // pixels, at least 600
    // The window of virtual time that is shown, in seconds; it ends with the last event at the latest.
    double begin = 0.0;
    double end = std::numeric_limits<double>::infinity();
    // Of a pipeline, whose picture then has a row per stage, sends as lines between the rows, the chunks of
    // an interleaved one in shades, and is wider than `width` where micro-batches would have no room for
    // their numbers. 0: there is no pipeline. Ranks are numbered as Layout does: those of a stage are
    // neighbours.
    int stages = 0;
    int tensor_ranks = 1;         // of a tensor-parallel group
    std::string memory_counts{};  // what the memory samples count; empty: bytes
};

/// Chrome's trace format, for ui.perfetto.dev: a process per rank; lanes for compute, sends and receives, for
/// the communication stream and its sends (as many as overlap); counters of bytes by category. Times are in
/// microseconds, rounded to whole nanoseconds; the exact duration is among an event's arguments. The file
/// appears whole or not at all; Error when it cannot be written.
void write_chrome_trace(const std::string& path, std::span<const RankTrace> traces);

/// A picture: a row per device over virtual time (boxes of compute, messages below them, idle time hatched;
/// where there is a communication stream a lane for it, collectives as boxes and their messages as marks on
/// them), then the memory of each device by category, with its budget. The same traces give the same bytes.
/// Boxes and samples closer than a pixel are merged; of the merged samples the largest is shown. Error as
/// above.
void write_svg_timeline(const std::string& path, std::span<const RankTrace> traces,
                        const PictureOptions& options = {});

enum class TraceFormat { chrome_json, svg };

/// By the ending: .json or .svg; Error naming the two for any other. To be asked before a run, not after it.
TraceFormat trace_format_of(const std::string& path);

/// Writes what the path's ending asks for.
void write_trace(const std::string& path, std::span<const RankTrace> traces,
                 const PictureOptions& options = {});

}  // namespace shardlings
