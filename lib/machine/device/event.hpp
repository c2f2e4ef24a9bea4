// What happened on a device, when, in virtual time: what the trace draws.
#pragma once

#include <cstdint>
#include <string>

namespace shardlings {

/// What device memory is used for. DeviceOutOfMemory and the reports break it down by these.
enum class Category : std::uint8_t {
    parameters,
    gradients,
    optimizer_states,
    activations,
    communication,
    workspace,
};
inline constexpr int category_count = 6;

/// A device works on several streams, each in its own order, as a GPU does: what is done on one delays
/// another only where it is waited for.
enum class Stream : std::uint8_t { compute, communication };
inline constexpr int stream_count = 2;

/// A span of virtual time. `bytes` and `peer` are for messages, `flops` for compute; -1 and 0 where they do
/// not apply.
struct Event {
    std::string name;    // "forward h.0", "send", ...
    std::string kind;    // "compute", "send", "receive", "step"
    double begin = 0.0;  // seconds
    double end = 0.0;    // seconds
    double flops = 0.0;
    std::uint64_t bytes = 0;
    int peer = -1;  // rank in the world
    int micro_batch = -1;
    Stream stream = Stream::compute;  // record() sets it
    int chunk = -1;                   // of an interleaved pipeline's stage
};

/// By how many bytes one category grew at `time`; negative where memory was given back. A change and not what
/// is held from then on: streams run ahead of each other, so samples need not be recorded in order of time.
struct MemorySample {
    double time;
    Category category;
    std::int64_t change;
};

}  // namespace shardlings
