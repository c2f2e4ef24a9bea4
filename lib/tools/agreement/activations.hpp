// The bytes of a device that come and go within a step (Korthikanti et al. 2022, section 4).
#pragma once

#include "lessons/10_counting/job.hpp"

namespace counting {

/// What a block keeps of a micro-batch from its forward to its backward pass. R = b T rows, e bytes an
/// element, T_p tensor-parallel ranks; outside the cut layers a rank has all R rows, or with sequence
/// parallelism ceil(R / T_p) of them:
///   outside   4 e h a row: the inputs of both layer norms and of both column-parallel layers; and 4 numbers
///             a row in fp32 (fp64 for fp64), the means and deviations of the layer norms
///   inside    12 e h / T_p for each of the R rows: Q, K and V, the heads' results, and the MLP's 4 h before
///             and behind GELU; and the attention's probabilities, e b a T² / T_p, unless they are recomputed
/// With full recomputation only the block's input is kept: e h for each row outside.
std::int64_t saved_by_block(const Job& job);

/// The largest number of activation bytes that a device holds at once in a step, as `Device` counts them: the
/// passes of its schedule are walked through, and with them what each allocates and frees. What a stage sends
/// it keeps until the link has carried it; here links are fast beside the passes (on slow ones up to one
/// activation more is held for each message that is on its way).
std::int64_t peak_activations(const Job& job, const Place& place);

}  // namespace counting
