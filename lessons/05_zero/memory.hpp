// 05.1 What ZeRO (Rajbhandari et al. 2020, section 5) leaves on a device, and what it sends.
#pragma once

#include <cstdint>

#include "lib/machine/base/dtype.hpp"

namespace zero {

using namespace shardlings;

/// Bytes of a device. `double`, since a share need not be whole.
struct StateBytes {
    double parameters;
    double gradients;
    double optimizer_states;
    double total() const { return parameters + gradients + optimizer_states; }
};

/// X = `parameters` parameters of `dtype`, trained with AdamW on `degree` = Nd devices, without padding:
///   stage 0: 2X + 2X + KX           stage 1: 2X + 2X + KX/Nd
///   stage 2: 2X + (2X + KX)/Nd      stage 3: (2X + 2X + KX)/Nd
/// for bf16 and fp16, K = 12. fp32: 4X + 4X + 8X, fp64: 8X + 8X + 16X, cut alike. Error for another stage,
/// X < 0 or degree < 1.
StateBytes state_bytes(int stage, double parameters, int degree, DType dtype);

/// Elements that a rank sends in a step of one micro-batch, (Nd − 1)/Nd · 2X for stages 0, 1, 2 and
/// (Nd − 1)/Nd · 3X for stage 3, if every parameter is fetched twice.
double sent_elements(int stage, double parameters, int degree);

}  // namespace zero
