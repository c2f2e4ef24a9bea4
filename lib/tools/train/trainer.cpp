#include "lib/tools/train/trainer.hpp"

#include <algorithm>
#include <utility>

#include "lessons/01_transformer/model.hpp"
#include "lessons/02_training_step/accumulation.hpp"
#include "lessons/02_training_step/recomputation.hpp"
#include "lessons/03_collectives/recursive_doubling.hpp"
#include "lessons/04_data_parallel/batch_shard.hpp"
#include "lessons/04_data_parallel/hooks.hpp"
#include "lessons/06_pipeline/engine.hpp"
#include "lessons/06_pipeline/optimizer.hpp"
#include "lessons/06_pipeline/stages.hpp"
#include "lessons/08_tensor_parallel/model.hpp"
#include "lib/tools/schedule/named.hpp"
#include "lib/tools/train/traced.hpp"

namespace shardlings {

namespace {

/// "embedding", "h.3", "head": by the first of a module's parameters.
std::string name_of(Module& module)
{
    const std::string& name = module.parameters().front()->name;
    if (name.starts_with("h.")) return name.substr(0, name.find('.', 2));
    return name.starts_with("ln_f") ? "head" : "embedding";
}

pipeline::Schedule schedule_of(const TrainOptions& options)
{
    const Layout& layout = options.layout;
    return make_schedule(layout.schedule, layout.pp, static_cast<int>(options.micro_batches),
                         layout.virtual_stages);
}

/// Which chunk of an interleaved stage runs a module; -1 where there is only one, or none does.
int chunk_of(const pipeline::Stage& stage, std::size_t module)
{
    const auto runs = [module](const pipeline::ModuleRange& r) {
        return r.first <= module && module < r.last;
    };
    const auto chunk = std::ranges::find_if(stage.chunks, runs);
    const bool one = stage.chunks.size() == 1 || chunk == stage.chunks.end();
    return one ? -1 : static_cast<int>(chunk - stage.chunks.begin());
}

/// Lesson 08's modules: with tensor parallelism, and for what only they can do.
bool has_cut_layers(const TrainOptions& options)
{
    return options.layout.tp > 1 || options.dropout > 0.0 || options.recompute_attention;
}

pipeline::Stage make_plain_stage(tensor_parallel::Boundary& boundary, const TrainOptions& options, int stage)
{
    const Layout& layout = options.layout;
    if (has_cut_layers(options)) {
        pipeline::Stage whole;
        whole.modules = tensor_parallel::make_gpt(
            boundary, options.shape, {{options.dropout, options.seed}, options.recompute_attention});
        whole.chunks = {{0, whole.modules.size()}};
        return whole;
    }
    const std::vector<std::int64_t> blocks =
        layout.blocks.empty() ? pipeline::balance_blocks(options.shape, layout.pp * layout.virtual_stages)
                              : layout.blocks;
    return pipeline::make_stage(options.shape, blocks, layout.pp, stage);
}

/// The modules of this rank, recomputed on one stage block by block (with several, the engine recomputes),
/// and traced.
pipeline::Stage make_stage(Device& device, tensor_parallel::Boundary& boundary, const TrainOptions& options,
                           int rank)
{
    pipeline::Stage stage = make_plain_stage(boundary, options, coordinates_of(rank, options.layout).pp);
    for (std::size_t i = 0; i < stage.modules.size(); ++i) {
        std::unique_ptr<Module>& module = stage.modules[i];
        const std::string name = name_of(*module);
        if (options.layout.pp == 1 && options.recompute && name.starts_with("h."))
            module = training::make_recomputed(std::move(module));
        if (device.recording()) module = make_traced(device, std::move(module), name, chunk_of(stage, i));
    }
    return stage;
}

/// The model's parameters, in order, for the norm; "" for those that another rank of the tensor-parallel
/// group counts.
std::vector<std::string> counted_names(const pipeline::Stage& stage, const ModelShape& shape, int tensor_rank)
{
    std::vector<std::string> names;
    const Modules whole = transformer::make_gpt(shape);
    for (const Parameter* parameter : parameters_of(whole)) names.push_back(parameter->name);
    if (tensor_rank == 0) return names;
    for (const Parameter* parameter : parameters_of(stage.modules))
        if (tensor_parallel::is_replicated(*parameter))
            *std::find(names.begin(), names.end(), parameter->name) = "";
    return names;
}

data_parallel::Replica make_replica(Comm& everyone, data_parallel::Group& group, pipeline::Stage& stage,
                                    int tensor_rank, const TrainOptions& options)
{
    const data_parallel::ReplicaOptions replica_options{options.dtype, options.seed, options.bucket_bytes,
                                                        options.overlap};
    data_parallel::Replica replica =
        zero::make_zero_replica(options.layout.zero, group, stage.modules, replica_options, options.zero);
    if (options.layout.pp > 1 || options.layout.tp > 1) {
        const bool second_copy = stage.tied_embedding != nullptr && stage.tied_peer == 0;
        replica.optimizer = pipeline::make_pipeline_optimizer(
            everyone, group, counted_names(stage, options.shape, tensor_rank),
            second_copy ? stage.tied_embedding : nullptr, *replica.buckets, *replica.values,
            *replica.gradients, std::move(replica.optimizer));
    }
    for (std::size_t i = 0; i < stage.modules.size(); ++i)
        stage.modules[i] =
            data_parallel::make_hooked(std::move(stage.modules[i]), i, *replica.values, *replica.gradients);
    return replica;
}

/// The ranks of which `others`, a number made of the other coordinates, is the same.
template <class Others>
Comm group_of(const Comm& world, const Layout& layout, Others others)
{
    return world.split(others(coordinates_of(world.rank(), layout)), world.rank());
}

std::unique_ptr<tensor_parallel::Boundary> make_boundary(Comm& group, const Layout& layout)
{
    return layout.sequence_parallel ? tensor_parallel::make_sequence_boundary(group)
                                    : tensor_parallel::make_replicated_boundary(group);
}

}  // namespace

Coordinates coordinates_of(int rank, const Layout& layout)
{
    return {rank / (layout.dp * layout.tp), rank / layout.tp % layout.dp, rank % layout.tp};
}

Trainer::Trainer(const Comm& world, const TrainOptions& options)
    : options_(options),
      everyone_(world.split(0, world.rank())),
      pipeline_(
          group_of(world, options.layout, [&](Coordinates at) { return at.dp * options.layout.tp + at.tp; })),
      tensor_group_(
          group_of(world, options.layout, [&](Coordinates at) { return at.pp * options.layout.dp + at.dp; })),
      group_(data_parallel::make_group(group_of(
          world, options.layout, [&](Coordinates at) { return at.pp * options.layout.tp + at.tp; }))),
      boundary_(make_boundary(tensor_group_, options.layout)),
      schedule_(schedule_of(options)),
      stage_(make_stage(world.device(), *boundary_, options, world.rank())),
      replica_(make_replica(everyone_, group_, stage_, tensor_group_.rank(), options))
{
}

std::vector<MicroBatch> Trainer::own_part(const MicroBatch& global_batch) const
{
    return data_parallel::shard_batch(global_batch, group_.data.size(), group_.data.rank(),
                                      options_.micro_batches);
}

/// The sum over all ranks, of a tensor-parallel group only once: there every rank has the whole loss.
double Trainer::sum_of_losses(double loss)
{
    if (tensor_group_.rank() > 0) loss = 0.0;
    collectives::recursive_doubling_all_reduce(everyone_, buffer_of(std::span(&loss, 1)));
    return loss;
}

/// Forward and backward of the global batch, until this rank's gradients are summed. Returns the batch's
/// loss.
double Trainer::accumulate(const MicroBatch& global_batch, double loss_scale)
{
    const std::vector<MicroBatch> micro_batches = own_part(global_batch);
    replica_.gradients->begin_step(options_.micro_batches);
    double loss = 0.0;
    if (options_.layout.pp == 1) {
        loss = training::accumulate_gradients(stage_.modules, micro_batches, loss_scale);
    } else {
        loss = pipeline::run_program(pipeline_, stage_, schedule_, options_.shape, options_.dtype,
                                     micro_batches, loss_scale, options_.recompute);
        pipeline::add_tied_gradients(pipeline_, stage_);
        if (stage_.tied_embedding != nullptr) {
            Saved nothing;
            stage_.modules.front()->backward(micro_batches.back(), {}, nothing);
        }
    }
    replica_.gradients->finish();
    return sum_of_losses(loss);
}

StepReport Trainer::step(const MicroBatch& global_batch, std::int64_t step)
{
    const Device& device = group_.data.device();
    const double idle_before = device.clock().idle();
    const double flops_before = device.flops();
    const bool scaled = options_.dtype == DType::fp16;
    StepReport report;
    MicroBatch batch = global_batch;
    batch.step = step;
    report.loss = accumulate(batch, scaled ? loss_scale_.scale : 1.0);

    const training::LearningRateSchedule schedule{options_.adamw.learning_rate,
                                                  options_.adamw.learning_rate * options_.final_learning_rate,
                                                  options_.warmup, options_.steps};
    training::AdamW adamw = options_.adamw;
    adamw.learning_rate = training::learning_rate_at(schedule, step);
    const training::UpdateResult result =
        replica_.optimizer->update(adamw, options_.max_norm, scaled ? &loss_scale_ : nullptr);
    report.gradient_norm = result.gradient_norm;
    report.skipped = result.skipped;
    report.exposed_seconds = device.clock().idle() - idle_before;
    report.busy_seconds = (device.flops() - flops_before) / device.topology().flops;
    return report;
}

double Trainer::evaluate(const MicroBatch& global_batch)
{
    const std::vector<MicroBatch> micro_batches = own_part(global_batch);
    const double loss = options_.layout.pp == 1
                            ? training::evaluate_loss(stage_.modules, micro_batches)
                            : pipeline::run_forward(pipeline_, stage_, schedule_, options_.shape,
                                                    options_.dtype, micro_batches);
    replica_.values->release();
    return sum_of_losses(loss);
}

}  // namespace shardlings
