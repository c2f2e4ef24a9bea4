#include "lessons/02_training_step/mixed_precision.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "lessons/02_training_step/clipping.hpp"
#include "lib/machine/base/error.hpp"

using namespace training;

void training::update_loss_scale(LossScale& loss_scale, bool overflow)
{
    // Your code: see lessons/02_training_step/mixed_precision.hpp (hints: make hint-02 PART=02.4)
    not_implemented("02.4 update_loss_scale");
}

bool training::has_overflow(ConstBuffer gradient)
{
    // Your code: see lessons/02_training_step/mixed_precision.hpp (hints: make hint-02 PART=02.4)
    not_implemented("02.4 has_overflow");
}

OptimizerStates training::make_optimizer_states(const Tensor& values)
{
    OptimizerStates states;
    // Your code: see lessons/02_training_step/mixed_precision.hpp (hints: make hint-02 PART=02.4)
    not_implemented("02.4 make_optimizer_states");
    return states;
}

UpdateResult training::update_parameters(const AdamW& options, double max_norm, LossScale* loss_scale,
                                         FlatParameters& parameters, OptimizerStates& states)
{
    UpdateResult result;
    // Your code: see lessons/02_training_step/mixed_precision.hpp (hints: make hint-02 PART=02.4)
    not_implemented("02.4 update_parameters");
    return result;
}
