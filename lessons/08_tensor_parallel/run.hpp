// Runs of the page's programs: a model whose layers are cut, and one block alone.
#pragma once

#include <memory>
#include <utility>

#include "lessons/02_training_step/recomputation.hpp"
#include "lessons/06_pipeline/run.hpp"
#include "lessons/08_tensor_parallel/model.hpp"

namespace lesson {

/// 2 blocks, h = 64, 8 heads, 32 tokens, 16 sequences, fp32; all devices in one node.
inline TrainOptions tensor_run(int degree)
{
    TrainOptions options = small_run(1);
    options.shape = {2, 64, 8, 32, 256};
    options.layout.tp = degree;
    options.topology.nodes = 1;
    options.topology.devices_per_node = 8;
    return options;
}

inline std::unique_ptr<tensor_parallel::Boundary> boundary_of(Comm& group, bool sequence_parallel)
{
    return sequence_parallel ? tensor_parallel::make_sequence_boundary(group)
                             : tensor_parallel::make_replicated_boundary(group);
}

/// What one block did on this rank in one forward and one backward pass.
struct BlockFigures {
    Traffic::Count forward;   // sent
    Traffic::Count backward;  // sent
    double saved = 0.0;       // bytes of activations between the passes
    double flops = 0.0;
};

/// Runs block 0 of `options` on all of `group`, with the options' dtype, dropout and recomputation.
inline BlockFigures run_block(Comm& group, const TrainOptions& options)
{
    const ModelShape& shape = options.shape;
    const auto boundary = boundary_of(group, options.layout.sequence_parallel);
    Modules modules;
    modules.push_back(tensor_parallel::make_block(
        *boundary, shape, 0, {{options.dropout, options.seed}, options.recompute_attention}));
    if (options.recompute) modules.front() = training::make_recomputed(std::move(modules.front()));
    FlatParameters parameters(group.device(), make_flat_layout(parameters_of(modules), 1), options.dtype);
    for (Parameter* parameter : parameters_of(modules)) initialise(*parameter, options.seed);

    MicroBatch batch;
    batch.sequences = options.batch;
    batch.tokens = shape.sequence;
    batch.step = 1;
    const std::int64_t rows = batch.sequences * batch.tokens;
    const Shape outside = options.layout.sequence_parallel
                              ? Shape{(rows + group.size() - 1) / group.size(), shape.hidden}
                              : Shape{batch.sequences, batch.tokens, shape.hidden};
    Tensor x(group.device(), outside, options.dtype, Category::activations);
    x.fill_zero();

    const Traffic::Count begin = group.traffic().total;
    Saved saved;
    Tensor y = modules.front()->forward(batch, std::move(x), saved);
    BlockFigures figures;
    figures.saved = static_cast<double>(group.device().memory().current_of(Category::activations)) -
                    static_cast<double>(y.bytes());
    const Traffic::Count middle = group.traffic().total;
    modules.front()->backward(batch, std::move(y), saved);
    const Traffic::Count end = group.traffic().total;
    figures.forward = {middle.messages - begin.messages, middle.bytes - begin.bytes};
    figures.backward = {end.messages - middle.messages, end.bytes - middle.bytes};
    figures.flops = group.device().flops();
    return figures;
}

/// The same on a new device on the first options.layout.tp ranks; rank 0's figures there, nothing elsewhere.
inline BlockFigures measure_block(MpiSession& session, const TrainOptions& options)
{
    BlockFigures figures;
    on_grid(session, options, [&](Comm& group) { figures = run_block(group, options); });
    return figures;
}

}  // namespace lesson
