#include "lib/tools/train/trainer.hpp"

#include <algorithm>
#include <utility>

#include "lessons/02_training_step/recomputation.hpp"
#include "lessons/04_data_parallel/batch_shard.hpp"
#include "lessons/04_data_parallel/hooks.hpp"
#include "lessons/06_pipeline/stages.hpp"
#include "lessons/08_tensor_parallel/model.hpp"
#include "lessons/09_3d/norm.hpp"
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

pipeline::ModelParts parts_of(tensor_parallel::Boundary& boundary, const TrainOptions& options)
{
    if (!has_cut_layers(options)) return pipeline::gpt_parts(options.shape);
    return grid::cut_parts(boundary, options.shape,
                           {{options.dropout, options.seed}, options.recompute_attention},
                           options.layout.sequence_parallel);
}

/// The modules of this rank, recomputed on one stage block by block (with several, the engine recomputes),
/// and traced.
pipeline::Stage make_stage(Device& device, tensor_parallel::Boundary& boundary, const TrainOptions& options,
                           int pipeline_rank)
{
    const Layout& layout = options.layout;
    const std::vector<std::int64_t> blocks = pipeline::blocks_of(options.shape, layout);
    pipeline::Stage stage =
        pipeline::make_stage(parts_of(boundary, options), blocks, layout.pp, pipeline_rank);
    for (std::size_t i = 0; i < stage.modules.size(); ++i) {
        std::unique_ptr<Module>& module = stage.modules[i];
        const std::string name = name_of(*module);
        if (layout.pp == 1 && options.recompute && name.starts_with("h."))
            module = training::make_recomputed(std::move(module));
        if (device.recording()) module = make_traced(device, std::move(module), name, chunk_of(stage, i));
    }
    return stage;
}

data_parallel::Replica make_replica(grid::Groups& groups, pipeline::Stage& stage, const TrainOptions& options)
{
    const data_parallel::ReplicaOptions replica_options{options.dtype, options.seed, options.bucket_bytes,
                                                        options.overlap};
    data_parallel::Replica replica = zero::make_zero_replica(options.layout.zero, groups.data, stage.modules,
                                                             replica_options, options.zero);
    if (options.layout.pp > 1 || options.layout.tp > 1)
        grid::span_grid(replica, groups, options.shape, stage);
    for (std::size_t i = 0; i < stage.modules.size(); ++i)
        stage.modules[i] =
            data_parallel::make_hooked(std::move(stage.modules[i]), i, *replica.values, *replica.gradients);
    return replica;
}

std::unique_ptr<tensor_parallel::Boundary> make_boundary(Comm& group, const Layout& layout)
{
    return layout.sequence_parallel ? tensor_parallel::make_sequence_boundary(group)
                                    : tensor_parallel::make_replicated_boundary(group);
}

}  // namespace

grid::Grid grid_of(const Layout& layout)
{
    return {layout.pp, layout.dp, layout.tp};
}

Trainer::Trainer(const Comm& world, const TrainOptions& options)
    : options_(options),
      groups_(grid::make_groups(world, grid_of(options.layout))),
      boundary_(make_boundary(groups_.tensor, options.layout)),
      schedule_(schedule_of(options)),
      stage_(make_stage(world.device(), *boundary_, options, groups_.pipeline.rank())),
      replica_(make_replica(groups_, stage_, options))
{
}

std::vector<MicroBatch> Trainer::own_part(const MicroBatch& global_batch) const
{
    const Comm& data = groups_.data.data;
    return data_parallel::shard_batch(global_batch, data.size(), data.rank(), options_.micro_batches);
}

grid::Participant Trainer::participant()
{
    return {groups_, stage_, schedule_, replica_, options_.shape, options_.dtype, options_.recompute};
}

StepReport Trainer::backward(const MicroBatch& global_batch, std::int64_t step)
{
    MicroBatch batch = global_batch;
    batch.step = step;
    StepReport report;
    report.loss =
        grid::accumulate_gradients(participant(), own_part(batch), is_scaled() ? loss_scale_.scale : 1.0);
    return report;
}

void Trainer::update(std::int64_t step, StepReport& report)
{
    const training::LearningRateSchedule schedule{options_.adamw.learning_rate,
                                                  options_.adamw.learning_rate * options_.final_learning_rate,
                                                  options_.warmup, options_.steps};
    training::AdamW adamw = options_.adamw;
    adamw.learning_rate = training::learning_rate_at(schedule, step);
    const training::UpdateResult result =
        replica_.optimizer->update(adamw, options_.max_norm, is_scaled() ? &loss_scale_ : nullptr);
    report.gradient_norm = result.gradient_norm;
    report.skipped = result.skipped;
}

StepReport Trainer::step(const MicroBatch& global_batch, std::int64_t step)
{
    const Device& device = groups_.everyone.device();
    const double idle_before = device.clock().idle();
    const double flops_before = device.flops();
    StepReport report = backward(global_batch, step);
    update(step, report);
    report.exposed_seconds = device.clock().idle() - idle_before;
    report.busy_seconds = (device.flops() - flops_before) / device.topology().flops;
    return report;
}

bool Trainer::stands_for(const Parameter& parameter) const
{
    const bool whole_on_all = options_.layout.zero == 0 && groups_.data.data.rank() > 0;
    const bool on_all_tensor_ranks = tensor_parallel::is_replicated(parameter) && groups_.tensor.rank() > 0;
    const bool second_copy = &parameter == stage_.tied_embedding && stage_.tied_peer == 0;
    return !whole_on_all && !on_all_tensor_ranks && !second_copy;
}

double Trainer::evaluate(const MicroBatch& global_batch)
{
    return grid::evaluate_loss(participant(), own_part(global_batch));
}

}  // namespace shardlings
