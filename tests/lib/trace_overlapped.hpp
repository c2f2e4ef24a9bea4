// A device's trace made by hand: collectives beside the backward pass.
#pragma once

#include "lib/tools/trace/trace.hpp"

inline constexpr double us = 1e-6;

inline shardlings::Event event(const char* name, const char* kind, double begin, double end,
                               shardlings::Stream stream = shardlings::Stream::compute)
{
    return {name, kind, begin * us, end * us, 0.0, 0, -1, -1, stream};
}

/// A collective of two messages each way, 5 µs long, which adds in its second half.
inline void all_reduce(shardlings::RankTrace& trace, const char* name, double begin)
{
    const auto record = [&trace](const char* what, const char* kind, double from, double until) {
        trace.events.push_back(event(what, kind, from, until, shardlings::Stream::communication));
    };
    record("send", "send", begin, begin + 2.5);
    record("receive", "receive", begin, begin + 2.5);
    record("send", "send", begin + 2.5, begin + 5.0);
    record("wait", "wait", begin + 2.5, begin + 3.5);
    record("receive", "receive", begin + 3.5, begin + 5.0);
    record("add", "compute", begin + 2.5, begin + 5.0);
    record(name, "communication", begin, begin + 5.0);
}

/// Two all-reduces beside the backward pass of two layers, in the order a device records them: 16 µs, of
/// which the compute stream waits 6.
inline shardlings::RankTrace overlapped()
{
    shardlings::RankTrace trace;
    trace.events.push_back(event("backward h.1", "backward", 0.0, 4.0));
    all_reduce(trace, "all-reduce h.1", 4.0);
    trace.events.push_back(event("backward h.0", "backward", 4.0, 8.0));
    all_reduce(trace, "all-reduce h.0", 9.0);
    trace.events.push_back(event("all-reduce h.1", "wait", 8.0, 9.0));
    trace.events.push_back(event("all-reduce h.0", "wait", 9.0, 14.0));
    trace.events.push_back(event("optimizer", "optimizer", 14.0, 16.0));
    return trace;
}
