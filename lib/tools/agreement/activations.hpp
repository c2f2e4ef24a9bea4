// The exact peak of the bytes that come and go within a step.
#pragma once

#include "lessons/10_counting/job.hpp"

namespace counting {

/// The largest number of activation bytes that a device holds at once in a step, as `Device` counts them: the
/// passes of its schedule are walked through, and with them what each allocates and frees beside what lesson
/// 10.5 says is kept. What a stage sends it keeps until the link has carried it; here links are fast beside
/// the passes (on slow ones up to one activation more is held for each message that is on its way).
std::int64_t peak_activations(const Job& job, const Place& place);

}  // namespace counting
