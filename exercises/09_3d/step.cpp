#include "lessons/09_3d/step.hpp"

#include "lessons/02_training_step/accumulation.hpp"
#include "lessons/03_collectives/recursive_doubling.hpp"
#include "lib/machine/base/error.hpp"

using namespace grid;

namespace {

/// The sum of the losses over the grid; on each rank `loss` is that of the micro-batches that it knows it of.
double sum_of_losses(Groups& groups, double loss)
{
    // Your code: see lessons/09_3d/step.hpp (hints: make hint-09 PART=09.3)
    not_implemented("09.3 sum_of_losses");
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
    // Your code: see lessons/09_3d/step.hpp (hints: make hint-09 PART=09.3)
    not_implemented("09.3 accumulate_gradients");
}

double grid::evaluate_loss(const Participant& p, std::span<const MicroBatch> own)
{
    // Your code: see lessons/09_3d/step.hpp (hints: make hint-09 PART=09.3)
    not_implemented("09.3 evaluate_loss");
}
