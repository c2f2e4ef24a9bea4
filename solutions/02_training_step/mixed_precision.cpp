#include "lessons/02_training_step/mixed_precision.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "lessons/02_training_step/clipping.hpp"

using namespace training;

void training::update_loss_scale(LossScale& loss_scale, bool overflow)
{
    // BEGIN SOLUTION 02.4 update_loss_scale
    if (overflow) {
        loss_scale.scale = std::max(loss_scale.scale / 2.0, loss_scale.smallest);
        loss_scale.good_steps = 0;
    } else if (++loss_scale.good_steps == loss_scale.growth_interval) {
        loss_scale.scale = std::min(loss_scale.scale * 2.0, loss_scale.largest);
        loss_scale.good_steps = 0;
    }
    // END SOLUTION
}

bool training::has_overflow(ConstBuffer gradient)
{
    // BEGIN SOLUTION 02.4 has_overflow
    constexpr std::int64_t chunk = 1024;
    std::array<double, chunk> values{};
    for (std::int64_t i = 0; i < gradient.count; i += chunk) {
        const std::int64_t count = std::min(chunk, gradient.count - i);
        convert(gradient.part(i, count), {reinterpret_cast<std::byte*>(values.data()), count, DType::fp64});
        if (!std::all_of(values.begin(), values.begin() + count, [](double g) { return std::isfinite(g); }))
            return true;
    }
    return false;
    // END SOLUTION
}

OptimizerStates training::make_optimizer_states(const Tensor& values)
{
    OptimizerStates states;
    // BEGIN SOLUTION 02.4 make_optimizer_states
    const bool mixed = is_sixteen_bit(values.dtype());
    const DType dtype = mixed ? DType::fp32 : values.dtype();
    const auto make = [&] {
        return Tensor(values.device(), values.shape(), dtype, Category::optimizer_states);
    };
    states.m = make();
    states.v = make();
    states.m.fill_zero();
    states.v.fill_zero();
    if (mixed) {
        states.master = make();
        convert(values.buffer(), states.master.buffer());
    }
    // END SOLUTION
    return states;
}

UpdateResult training::update_parameters(const AdamW& options, double max_norm, LossScale* loss_scale,
                                         FlatParameters& parameters, OptimizerStates& states)
{
    UpdateResult result;
    // BEGIN SOLUTION 02.4 update_parameters
    const ConstBuffer gradients = std::as_const(parameters).gradients().buffer();
    const double scale = loss_scale == nullptr ? 1.0 : loss_scale->scale;
    if (loss_scale != nullptr) {
        result.skipped = has_overflow(gradients);
        update_loss_scale(*loss_scale, result.skipped);
        if (result.skipped) return result;
    }

    std::vector<double> sums;
    for (const FlatEntry& entry : parameters.layout().entries)
        sums.push_back(sum_of_squares(gradients.part(entry.offset, entry.parameter->elements())));
    result.gradient_norm = global_norm(sums) / scale;
    const double factor = clip_factor(result.gradient_norm, max_norm) / scale;

    ++states.step;
    Tensor& weights = states.master.empty() ? parameters.values() : states.master;
    for (const FlatEntry& entry : parameters.layout().entries) {
        const auto part = [&](Tensor& t) {
            return t.buffer().part(entry.offset, entry.parameter->elements());
        };
        adamw_update(options, states.step, factor, entry.parameter->decays,
                     gradients.part(entry.offset, entry.parameter->elements()), part(states.m),
                     part(states.v), part(weights));
    }
    if (!states.master.empty()) convert(std::as_const(states.master).buffer(), parameters.values().buffer());
    // END SOLUTION
    return result;
}
