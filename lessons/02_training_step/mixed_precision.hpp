// 02.4 Mixed precision (Micikevicius et al. 2018): 16-bit parameters and gradients, fp32 master weights, loss
// scaling.
//
// Bytes for X parameters: bf16 and fp16: 2X parameters + 2X gradients + 12X optimizer states (master, m, v: K
// = 12); fp32: 4X + 4X + 8X; fp64: 8X + 8X + 16X.
#pragma once

#include "lessons/02_training_step/adamw.hpp"
#include "lib/machine/nn/parameter.hpp"

namespace training {

using namespace shardlings;

/// The dynamic loss scale of fp16. Doubles after `growth_interval` steps in a row without overflow, up to
/// `largest`; halves on one, down to `smallest`.
struct LossScale {
    double scale = 65536.0;
    std::int64_t good_steps = 0;  // since the scale last changed
    std::int64_t growth_interval = 1000;
    double largest = 16777216.0;
    double smallest = 1.0;
};

/// Books one step: halves the scale on overflow and starts counting anew; else counts the step and, when the
/// interval is full, doubles the scale and starts counting anew.
void update_loss_scale(LossScale& loss_scale, bool overflow);

/// True when an element is infinite or NaN.
bool has_overflow(ConstBuffer gradient);

/// fp32 copies (fp64 for fp64 parameters) that the optimizer keeps for a flat buffer of parameters.
struct OptimizerStates {
    Tensor master;  // the weights that are updated; empty for fp32 and fp64: there the parameters are
    Tensor m;
    Tensor v;
    std::int64_t step = 0;  // updates done; a skipped step is none
};

/// m = v = 0; master = the values, for 16-bit parameters. Memory of the category optimizer_states.
OptimizerStates make_optimizer_states(const Tensor& values);

struct UpdateResult {
    bool skipped = false;        // fp16 overflow: nothing was changed but the loss scale
    double gradient_norm = 0.0;  // of the unscaled gradients, before clipping
};

/// One optimizer step over the flat buffers, from gradients that carry the factor loss_scale->scale (1
/// without one): check for overflow (with a loss scale only), unscale, clip by the global norm, AdamW on the
/// master weights, round them to the parameters. The norm is that of the parameters' sums of squares, in
/// their order. The gradients are only read; nothing is allocated. The padding behind the last parameter is
/// no parameter: it stays zero whatever the gradients hold there, and does not enter the norm.
UpdateResult update_parameters(const AdamW& options, double max_norm, LossScale* loss_scale,
                               FlatParameters& parameters, OptimizerStates& states);

}  // namespace training
