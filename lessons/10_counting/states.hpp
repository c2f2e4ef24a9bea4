// 10.2 The bytes of a device that stay from step to step.
#pragma once

#include "lessons/10_counting/job.hpp"

namespace counting {

struct StateBytes {
    std::int64_t parameters = 0;
    std::int64_t gradients = 0;
    std::int64_t optimizer_states = 0;

    std::int64_t total() const { return parameters + gradients + optimizer_states; }
};

/// Exactly what `Device` counts between two steps. Each bucket of bucket_elements (10.1) is padded to a
/// multiple of Nd = dp, in every ZeRO stage. Bytes of a parameter: size_of(dtype); of its gradient: as many;
/// of its optimizer states: K = 12 for 16-bit parameters (m, v and master weights in fp32), 8 for fp32, 16
/// for fp64 (m and v). From ZeRO stage 1 on a device has 1/Nd of the optimizer states, from 2 on also of the
/// gradients, from 3 on also of the parameters.
StateBytes state_bytes(const Job& job, const Place& place);

}  // namespace counting
