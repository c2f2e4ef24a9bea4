// The exact peak of the bytes that come and go within a step.
#pragma once

#include "lessons/10_counting/job.hpp"
#include "lib/machine/device/topology.hpp"

namespace counting {

/// The largest number of activation bytes that a device holds at once in a step, as `Device` counts them: the
/// passes of its schedule are walked through, and with them what each allocates and frees beside what lesson
/// 10.5 says is kept. What a stage sends it keeps until the link has carried it, by lesson 10.6's seconds of
/// passes and of a message.
///
/// Two neighbours often send at the same moment, and whether what has been sent is gone when what comes
/// begins a pass is decided by less than these seconds are accurate to. `patience`: so many seconds after the
/// moment that a pass begins, what has been carried counts as gone (negative: before it).
std::int64_t peak_activations(const Job& job, const Place& place, const Topology& topology,
                              double patience = 0.0);

/// By how much the peak depends on such moments: the difference between patience of a message's time less and
/// more.
std::int64_t undecided_activations(const Job& job, const Place& place, const Topology& topology);

}  // namespace counting
