#include "lib/tools/train/trainer.hpp"

#include <utility>

#include "lessons/01_transformer/model.hpp"
#include "lessons/02_training_step/accumulation.hpp"
#include "lessons/02_training_step/recomputation.hpp"
#include "lib/tools/train/traced.hpp"

namespace shardlings {

namespace {

Modules make_modules(const Device& device, const TrainOptions& options)
{
    Modules modules = transformer::make_gpt(options.shape);
    for (std::size_t i = 0; i < modules.size(); ++i) {
        const bool block = i > 0 && i + 1 < modules.size();
        if (block && options.recompute) modules[i] = training::make_recomputed(std::move(modules[i]));
        const std::string name = block ? fmt::format("h.{}", i - 1) : i == 0 ? "embedding" : "head";
        if (device.recording()) modules[i] = make_traced(std::move(modules[i]), name);
    }
    return modules;
}

FlatParameters make_parameters(Device& device, const Modules& modules, const TrainOptions& options)
{
    FlatParameters parameters(device, make_flat_layout(parameters_of(modules), 1), options.dtype);
    for (const FlatEntry& entry : parameters.layout().entries) initialise(*entry.parameter, options.seed);
    return parameters;
}

}  // namespace

Trainer::Trainer(Device& device, const TrainOptions& options)
    : options_(options),
      modules_(make_modules(device, options)),
      parameters_(make_parameters(device, modules_, options)),
      states_(training::make_optimizer_states(parameters_.values()))
{
}

StepReport Trainer::step(const MicroBatch& batch, std::int64_t step)
{
    const bool scaled = options_.dtype == DType::fp16;
    parameters_.gradients().fill_zero();
    const std::vector<MicroBatch> micro_batches = training::split_batch(batch, options_.micro_batches);
    StepReport report;
    report.loss = training::accumulate_gradients(modules_, micro_batches, scaled ? loss_scale_.scale : 1.0);

    const training::LearningRateSchedule schedule{options_.adamw.learning_rate,
                                                  options_.adamw.learning_rate * options_.final_learning_rate,
                                                  options_.warmup, options_.steps};
    training::AdamW adamw = options_.adamw;
    adamw.learning_rate = training::learning_rate_at(schedule, step);
    const training::UpdateResult result = training::update_parameters(
        adamw, options_.max_norm, scaled ? &loss_scale_ : nullptr, parameters_, states_);
    report.gradient_norm = result.gradient_norm;
    report.skipped = result.skipped;
    return report;
}

double Trainer::evaluate(const MicroBatch& batch) const
{
    return training::evaluate_loss(modules_, training::split_batch(batch, options_.micro_batches));
}

}  // namespace shardlings
