#include "lessons/09_3d/step.hpp"

#include "lessons/02_training_step/accumulation.hpp"
#include "lessons/03_collectives/recursive_doubling.hpp"

using namespace grid;

namespace {

/// The sum of the losses over the grid; on each rank `loss` is that of the micro-batches that it knows it of.
double sum_of_losses(Groups& groups, double loss)
{
    // BEGIN SOLUTION 09.3 sum_of_losses
    if (groups.tensor.rank() > 0) loss = 0.0;
    collectives::recursive_doubling_all_reduce(groups.everyone, buffer_of(std::span(&loss, 1)));
    return loss;
    // END SOLUTION
}

}  // namespace

pipeline::ModelParts grid::cut_parts(tensor_parallel::Boundary& boundary, const ModelShape& shape,
                                     const tensor_parallel::BlockOptions& options, bool sequence_parallel)
{
    return {
        [&boundary, shape, options](bool tied) {
            return tensor_parallel::make_embedding(boundary, shape, tied, options.dropout);
        },
        [&boundary, shape, options](std::int64_t layer) {
            return tensor_parallel::make_block(boundary, shape, layer, options);
        },
        [&boundary, shape](Parameter& weight) { return tensor_parallel::make_head(boundary, shape, weight); },
        shape.layers, sequence_parallel ? boundary.group().size() : 1};
}

double grid::accumulate_gradients(const Participant& p, std::span<const MicroBatch> own, double loss_scale)
{
    // BEGIN SOLUTION 09.3 accumulate_gradients
    p.replica.gradients->begin_step(static_cast<std::int64_t>(own.size()));
    double loss = 0.0;
    if (p.schedule.stages == 1) {
        loss = training::accumulate_gradients(p.stage.modules, own, loss_scale);
    } else {
        loss = pipeline::run_program(p.groups.pipeline, p.stage, p.schedule, p.shape, p.dtype, own,
                                     loss_scale, p.recompute);
        pipeline::add_tied_gradients(p.groups.pipeline, p.stage);
        if (p.stage.tied_embedding != nullptr) {
            Saved nothing;
            p.stage.modules.front()->backward(own.back(), {}, nothing);
        }
    }
    p.replica.gradients->finish();
    return sum_of_losses(p.groups, loss);
    // END SOLUTION
}

double grid::evaluate_loss(const Participant& p, std::span<const MicroBatch> own)
{
    // BEGIN SOLUTION 09.3 evaluate_loss
    const double loss = p.schedule.stages == 1 ? training::evaluate_loss(p.stage.modules, own)
                                               : pipeline::run_forward(p.groups.pipeline, p.stage, p.schedule,
                                                                       p.shape, p.dtype, own);
    p.replica.values->release();
    return sum_of_losses(p.groups, loss);
    // END SOLUTION
}
