// A schedule as the trace of devices that run it, and as a picture.
#pragma once

#include <string>
#include <vector>

#include "lessons/07_gpipe/check.hpp"
#include "lib/tools/trace/trace.hpp"

namespace shardlings {

/// What the stages would record: a trace a stage, with its passes, waits for messages and sends. Its memory
/// samples count (micro-batch, chunk) pairs in flight, from the begin of their forward to the end of their
/// backward pass. `spans` as simulate gives them, with the same costs.
std::vector<RankTrace> schedule_traces(const pipeline::Schedule& schedule,
                                       const std::vector<std::vector<pipeline::Span>>& spans,
                                       const pipeline::PassCosts& costs);

/// The picture of these traces, as write_svg_timeline draws it. The file appears whole or not at all; Error
/// when it cannot be written.
void write_schedule_picture(const std::string& path, const std::string& title,
                            const pipeline::Schedule& schedule,
                            const std::vector<std::vector<pipeline::Span>>& spans,
                            const pipeline::PassCosts& costs);

}  // namespace shardlings
