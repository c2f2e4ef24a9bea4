// 09.3 The forward and backward passes of one step over the grid.
#pragma once

#include <span>

#include "lessons/06_pipeline/engine.hpp"
#include "lessons/08_tensor_parallel/model.hpp"
#include "lessons/09_3d/grid.hpp"

namespace grid {

/// Lesson 08's modules, for the stages of a pipeline. `boundary`, which must outlive the modules, is the
/// replicated one, or with `sequence_parallel` the other.
pipeline::ModelParts cut_parts(tensor_parallel::Boundary& boundary, const ModelShape& shape,
                               const tensor_parallel::BlockOptions& options, bool sequence_parallel);

/// What a device needs for its part of a step. The modules of the stage are hooked to the replica
/// (lesson 04).
struct Participant {
    Groups& groups;
    pipeline::Stage& stage;
    const pipeline::Schedule& schedule;  // of one stage: the passes are lesson 02's
    data_parallel::Replica& replica;
    ModelShape shape;
    DType dtype;
    bool recompute;  // each stage from its input
};

/// Adds up the gradients of loss_scale · loss over the global batch, of which this rank's data-parallel group
/// member has the micro-batches `own`: afterwards replica.gradients holds the sums. Returns the loss of the
/// global batch, the same on every rank: each micro-batch's counts once, though all ranks of a
/// tensor-parallel group know it.
///
/// The two copies of a pipeline's tied embedding must be added up before the data-parallel group reduces
/// them; the module that stands for it (lesson 06.3) tells the buckets when: on a stage that has a copy, run
/// its backward pass over the last micro-batch then.
double accumulate_gradients(const Participant& participant, std::span<const MicroBatch> own,
                            double loss_scale);

/// The loss of a global batch, forward only, the same on every rank. The gradients stay as they are, and what
/// values were fetched for the passes is let go of (ParameterValues::release).
double evaluate_loss(const Participant& participant, std::span<const MicroBatch> own);

}  // namespace grid
