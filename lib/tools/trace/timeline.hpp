// A device's events, arranged: what kind of work each is, how they nest, and when the device was idle.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lib/machine/device/event.hpp"
#include "lib/tools/trace/trace.hpp"

namespace shardlings {

enum class Work : std::uint8_t {
    forward,
    backward,
    optimizer,
    compute,
    send,
    receive,
    wait,
    step,
    communication,  // a whole collective, made of messages
};
inline constexpr int work_count = 9;

std::string_view name_of(Work work);

/// By the event's kind; an event of kind "compute" whose name begins with "forward", "backward" or
/// "optimizer" is that, and an unknown kind is compute.
Work work_of(const Event& event);

/// Whether the device's arithmetic units are at it: forward, backward, optimizer, other compute.
bool is_compute(Work work);

/// Whether the communication stream did anything that took time: on a single device collectives take none.
bool has_communication_stream(std::span<const RankTrace> traces);

/// Whether there is that or a collective on the compute stream.
bool has_communication(std::span<const RankTrace> traces);

struct Span {
    double begin;
    double end;  // seconds
};

/// An event among those of one lane. Depth 0 is outermost; an event lies inside the one before it of the next
/// smaller depth.
struct Box {
    Event event;
    Work work = Work::compute;
    int depth = 0;
    bool has_children = false;
};

/// The compute and communication events of the compute stream that take time, in order of begin, outer ones
/// first; plain compute inside a forward is forward, and so on. The passes of one micro-batch through several
/// modules, without a pause between them, lie inside a box of their own for that micro-batch.
std::vector<Box> compute_boxes(std::span<const Event> events);

/// The same of the communication stream, without boxes for micro-batches.
std::vector<Box> communication_boxes(std::span<const Event> events);

/// The events of one kind of work on one stream that take time, all at depth 0, in order of begin.
std::vector<Box> boxes_of(std::span<const Event> events, Work work, Stream stream);

/// The waits of the compute stream that say for what: those whose name is not just "wait". In order of begin.
std::vector<Box> named_waits(std::span<const Event> events);

/// When the compute stream waited, for a message or for the communication stream, inside compute events and
/// outside: disjoint, ascending.
std::vector<Span> waiting_spans(std::span<const Event> events);

/// What of that lies in no collective of the compute stream.
std::vector<Span> waits_outside_collectives(std::span<const Event> events);

/// When the compute stream computed and did not wait, whatever the communication stream did: disjoint,
/// ascending.
std::vector<Span> busy_spans(std::span<const Event> events);

/// Error naming the rank and the event, when one has no finite times or ends before it begins.
void check_times(std::span<const RankTrace> traces);

/// The parts of `spans` inside `window`, in seconds together.
double seconds_within(std::span<const Span> spans, Span window);

}  // namespace shardlings
