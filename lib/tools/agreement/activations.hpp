// The exact peak of the bytes that come and go within a step.
#pragma once

#include "lessons/10_counting/job.hpp"
#include "lib/machine/device/topology.hpp"

namespace counting {

/// The largest number of activation bytes that a device holds at once in a step, as `Device` counts them: the
/// passes of its schedule are walked through, and with them what each allocates and frees beside what lesson
/// 10.5 says is kept. What a stage sends it keeps until the link has carried it, by lesson 10.6's seconds of
/// this stage's passes and of a message; as the stages' passes differ, that may be an activation more or
/// less.
std::int64_t peak_activations(const Job& job, const Place& place, const Topology& topology);

}  // namespace counting
