// Case operations on the optimizer of one stage of several.
#pragma once

#include <sstream>

#include "lessons/05_zero/zero.hpp"
#include "lessons/06_pipeline/optimizer.hpp"
#include "tests/06_pipeline/driver_stage.hpp"
#include "tests/06_pipeline/step_gradient.hpp"

namespace pipeline_test {

/// The words of a text.
inline std::vector<std::string> words_of(const std::string& text)
{
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

/// Sums known gradients of a step over the group: the first rank of it has them, the others zeros.
inline void reduce_gradients(Case& c, pipeline::Stage& stage, data_parallel::Gradients& gradients,
                             std::int64_t step, double scale)
{
    const StepGradient of{static_cast<std::uint64_t>(c.integer("seed")), step, scale,
                          step == c.integer("overflow_step") ? c.text("overflow") : ""};
    gradients.begin_step(1);
    if (c.integer("dp_rank") == 0)
        for (Parameter* parameter : parameters_of(stage.modules))
            set_gradient(of, parameter->name, parameter->gradient);
    for (std::size_t i = stage.modules.size(); i-- > 0;) {
        gradients.before_backward(i);
        gradients.after_backward(i, 0);
    }
    gradients.finish();
}

/// Steps of the optimizer on pp x dp ranks.
inline void pipeline_optimizer(Case& c)
{
    const int stages = static_cast<int>(c.integer("stages"));
    const int pp_rank = static_cast<int>(c.integer("pp_rank"));
    Comm everyone = c.comm().split(0, c.comm().rank());
    data_parallel::Group group =
        data_parallel::make_group(c.comm().split(pp_rank, static_cast<int>(c.integer("dp_rank"))));
    pipeline::Stage stage =
        pipeline::make_stage(pipeline::gpt_parts(shape_of(c)), blocks_of(c), stages, pp_rank);
    const data_parallel::ReplicaOptions options{parse_dtype(c.text("dtype")), initial_seed,
                                                c.integer("bucket_bytes"), true};
    data_parallel::Replica replica =
        zero::make_zero_replica(static_cast<int>(c.integer("zero")), group, stage.modules, options, {});
    replica.optimizer = pipeline::make_pipeline_optimizer(
        everyone, group, words_of(c.text("names")), pp_rank + 1 == stages ? stage.tied_embedding : nullptr,
        *replica.buckets, *replica.values, *replica.gradients, std::move(replica.optimizer));

    const training::AdamW adamw{c.number("learning_rate"), 0.9, 0.95, 1e-8, 0.1};
    training::LossScale scale{c.number("scale"), 0, 2, 16777216.0, 1.0};
    std::vector<double> norms, skipped, scales;
    c.start_measuring();
    for (std::int64_t step = 0; step < c.integer("steps"); ++step) {
        reduce_gradients(c, stage, *replica.gradients, step, scale.scale);
        const training::UpdateResult result =
            replica.optimizer->update(adamw, c.number("max_norm"), c.flag("scaled") ? &scale : nullptr);
        norms.push_back(result.gradient_norm);
        skipped.push_back(result.skipped ? 1.0 : 0.0);
        scales.push_back(scale.scale);
    }
    c.stop_measuring();
    c.put("norms", norms);
    c.put("skipped", skipped);
    c.put("scales", scales);
    for (const Parameter* parameter : parameters_of(stage.modules))
        c.put("value " + parameter->name, parameter->value);
}

}  // namespace pipeline_test
