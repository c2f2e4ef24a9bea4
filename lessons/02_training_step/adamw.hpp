// 02.1 AdamW (Loshchilov and Hutter 2019) and its learning rate.
#pragma once

#include <cstdint>

#include "lib/machine/base/dtype.hpp"

namespace training {

using namespace shardlings;

struct AdamW {
    double learning_rate = 1e-3;
    double beta1 = 0.9;
    double beta2 = 0.95;
    double epsilon = 1e-8;
    double weight_decay = 0.1;
};

/// Update number `step` (1, 2, …) of a run of elements. `weights`, `m` and `v` are all fp32 or all fp64; the
/// gradient may have any floating-point dtype and counts as g = gradient_factor · gradient.
///   w ← w (1 − learning_rate · weight_decay), when `decays`
///   m ← β1 m + (1 − β1) g                      v ← β2 v + (1 − β2) g²
///   w ← w − learning_rate (m / (1 − β1^step)) / (sqrt(v / (1 − β2^step)) + epsilon)
/// Every element's result depends on that element alone, however the run is cut: shards agree bitwise.
void adamw_update(const AdamW& options, std::int64_t step, double gradient_factor, bool decays,
                  ConstBuffer gradient, Buffer m, Buffer v, Buffer weights);

struct LearningRateSchedule {
    double peak = 1e-3;
    double floor = 1e-4;      // where the cosine ends
    std::int64_t warmup = 0;  // steps
    std::int64_t total = 1;   // steps
};

/// Step k = 1, 2, …: peak · k / warmup while k <= warmup; then floor + (peak − floor) (1 + cos(π q)) / 2 with
/// q = (k − warmup) / (total − warmup), at most 1, and 1 when total <= warmup.
double learning_rate_at(const LearningRateSchedule& schedule, std::int64_t step);

}  // namespace training
