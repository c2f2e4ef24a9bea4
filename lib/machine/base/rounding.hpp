// How much a rounding changes a number.
#pragma once

#include "lib/machine/base/dtype.hpp"

namespace shardlings {

/// u: half the distance between 1 and the next number, and so the largest relative error of one rounding:
/// 2^-53 (fp64), 2^-24 (fp32), 2^-8 (bf16), 2^-11 (fp16).
inline double unit_roundoff(DType dtype)
{
    return epsilon_of(dtype) / 2.0;
}

}  // namespace shardlings
