// Case operations on optimizer states and whole optimizer steps.
#pragma once

#include "lessons/01_transformer/model.hpp"
#include "lessons/02_training_step/mixed_precision.hpp"
#include "lib/tools/grade/driver.hpp"

namespace update_cases {

using namespace grade;

inline training::AdamW adamw_options(Case& c)
{
    return {c.number("learning_rate"), c.number("beta1"), c.number("beta2"), c.number("epsilon"),
            c.number("weight_decay")};
}

inline training::LossScale loss_scale(Case& c)
{
    return {c.number("scale"), c.integer("good_steps"), c.integer("growth_interval"), c.number("largest"),
            c.number("smallest")};
}

inline void update_loss_scale(Case& c)
{
    training::LossScale scale = loss_scale(c);
    std::vector<double> scales, good_steps;
    for (const std::int32_t overflow : c.ids("overflows")) {
        training::update_loss_scale(scale, overflow != 0);
        scales.push_back(scale.scale);
        good_steps.push_back(static_cast<double>(scale.good_steps));
    }
    c.put("scales", scales);
    c.put("good_steps", good_steps);
}

inline void has_overflow(Case& c)
{
    const Tensor gradient = c.tensor("gradient", Category::gradients);
    c.put("overflow", training::has_overflow(gradient.buffer()) ? 1.0 : 0.0);
}

inline void put_states(Case& c, const training::OptimizerStates& states)
{
    if (!states.m.empty()) c.put("m", states.m);
    if (!states.v.empty()) c.put("v", states.v);
    if (!states.master.empty()) c.put("master", states.master);
    c.put("step", static_cast<double>(states.step));
}

inline void make_optimizer_states(Case& c)
{
    const Tensor values = c.tensor("values", Category::parameters);
    c.start_measuring();
    const training::OptimizerStates states = training::make_optimizer_states(values);
    c.stop_measuring();
    c.put("values", values);
    put_states(c, states);
}

/// What a whole model holds between two steps.
inline void model_memory(Case& c)
{
    const ModelShape shape{c.integer("layers"), c.integer("hidden"), c.integer("heads"),
                           c.integer("sequence"), c.integer("vocabulary")};
    const Modules gpt = transformer::make_gpt(shape);
    const FlatParameters parameters(c.device(), make_flat_layout(parameters_of(gpt), 1),
                                    parse_dtype(c.text("dtype")));
    const training::OptimizerStates states = training::make_optimizer_states(parameters.values());
    c.stop_measuring();
}

/// `steps` optimizer steps over parameters of the given sizes in one flat buffer. The optimizer states are
/// made here, so that a mistake in making them is not charged again.
inline void update_parameters(Case& c)
{
    const std::vector<std::int32_t> sizes = c.ids("sizes"), decays = c.ids("decays");
    std::vector<Parameter> list(sizes.size());
    std::vector<Parameter*> pointers;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        list[i] = {std::to_string(i), Slice::whole({sizes[i]}), {}, decays[i] != 0, {}, {}, {}};
        pointers.push_back(&list[i]);
    }
    FlatParameters flat(c.device(), make_flat_layout(pointers, c.integer("degree")),
                        parse_dtype(c.text("dtype")));
    from_doubles(c.numbers("values"), flat.values());

    training::OptimizerStates states{{},
                                     c.tensor("m", Category::optimizer_states),
                                     c.tensor("v", Category::optimizer_states),
                                     c.integer("step")};
    if (is_sixteen_bit(flat.values().dtype())) states.master = c.tensor("master", Category::optimizer_states);
    training::LossScale scale = loss_scale(c);
    const training::AdamW options = adamw_options(c);
    const double max_norm = c.number("max_norm");
    const bool scaled = c.flag("scaled");
    const std::int64_t steps = c.integer("steps");

    std::vector<double> skipped, norms, scales;
    c.start_measuring();
    for (std::int64_t step = 0; step < steps; ++step) {
        const std::vector<double> gradients = c.numbers(fmt::format("gradients{}", step));
        from_doubles(gradients, flat.gradients());
        const training::UpdateResult result =
            training::update_parameters(options, max_norm, scaled ? &scale : nullptr, flat, states);
        skipped.push_back(result.skipped ? 1.0 : 0.0);
        norms.push_back(result.gradient_norm);
        scales.push_back(scale.scale);
    }
    c.stop_measuring();
    c.put("values", flat.values());
    c.put("gradients", flat.gradients());
    put_states(c, states);
    c.put("skipped", skipped);
    c.put("norms", norms);
    c.put("scales", scales);
    c.put("good_steps", static_cast<double>(scale.good_steps));
}

}  // namespace update_cases
