#include "lib/tools/train/trainer.hpp"

#include <utility>

#include "lessons/01_transformer/model.hpp"
#include "lessons/02_training_step/accumulation.hpp"
#include "lessons/02_training_step/recomputation.hpp"
#include "lessons/03_collectives/recursive_doubling.hpp"
#include "lessons/04_data_parallel/batch_shard.hpp"
#include "lessons/04_data_parallel/hooks.hpp"
#include "lib/tools/train/traced.hpp"

namespace shardlings {

namespace {

Modules make_modules(Device& device, const TrainOptions& options)
{
    Modules modules = transformer::make_gpt(options.shape);
    for (std::size_t i = 0; i < modules.size(); ++i) {
        const bool block = i > 0 && i + 1 < modules.size();
        if (block && options.recompute) modules[i] = training::make_recomputed(std::move(modules[i]));
        const std::string name = block ? fmt::format("h.{}", i - 1) : i == 0 ? "embedding" : "head";
        if (device.recording()) modules[i] = make_traced(device, std::move(modules[i]), name);
    }
    return modules;
}

data_parallel::Replica make_replica(data_parallel::Group& group, Modules& modules,
                                    const TrainOptions& options)
{
    const data_parallel::ReplicaOptions replica_options{options.dtype, options.seed, options.bucket_bytes,
                                                        options.overlap};
    data_parallel::Replica replica =
        zero::make_zero_replica(options.layout.zero, group, modules, replica_options, options.zero);
    for (std::size_t i = 0; i < modules.size(); ++i)
        modules[i] =
            data_parallel::make_hooked(std::move(modules[i]), i, *replica.values, *replica.gradients);
    return replica;
}

}  // namespace

Trainer::Trainer(const Comm& world, const TrainOptions& options)
    : options_(options),
      group_(data_parallel::make_group(world)),
      modules_(make_modules(world.device(), options)),
      replica_(make_replica(group_, modules_, options))
{
}

std::vector<MicroBatch> Trainer::own_part(const MicroBatch& global_batch) const
{
    return data_parallel::shard_batch(global_batch, group_.data.size(), group_.data.rank(),
                                      options_.micro_batches);
}

double Trainer::sum_over_group(double value)
{
    collectives::recursive_doubling_all_reduce(group_.control, buffer_of(std::span(&value, 1)));
    return value;
}

StepReport Trainer::step(const MicroBatch& global_batch, std::int64_t step)
{
    const Clock& clock = group_.data.device().clock();
    const double idle_before = clock.idle();
    const bool scaled = options_.dtype == DType::fp16;
    replica_.gradients->begin_step(options_.micro_batches);
    StepReport report;
    report.loss =
        training::accumulate_gradients(modules_, own_part(global_batch), scaled ? loss_scale_.scale : 1.0);
    replica_.gradients->finish();
    report.loss = sum_over_group(report.loss);

    const training::LearningRateSchedule schedule{options_.adamw.learning_rate,
                                                  options_.adamw.learning_rate * options_.final_learning_rate,
                                                  options_.warmup, options_.steps};
    training::AdamW adamw = options_.adamw;
    adamw.learning_rate = training::learning_rate_at(schedule, step);
    const training::UpdateResult result =
        replica_.optimizer->update(adamw, options_.max_norm, scaled ? &loss_scale_ : nullptr);
    report.gradient_norm = result.gradient_norm;
    report.skipped = result.skipped;
    report.exposed_seconds = clock.idle() - idle_before;
    return report;
}

double Trainer::evaluate(const MicroBatch& global_batch)
{
    const double loss = training::evaluate_loss(modules_, own_part(global_batch));
    replica_.values->release();
    return sum_over_group(loss);
}

}  // namespace shardlings
