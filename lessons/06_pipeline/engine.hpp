// 06.4 The engine: runs one stage's program.
#pragma once

#include <span>

#include "lessons/06_pipeline/schedule.hpp"
#include "lessons/06_pipeline/stage.hpp"

namespace pipeline {

/// Runs the program of rank pipeline.rank() of `schedule` over the micro-batches: adds loss_scale ·
/// d(loss)/d(parameter) to the gradients of the stage's modules and returns the sum of their losses, 0 but on
/// the last stage.
///
///   receive   waits for the tensor of its micro-batch and chunk: (sequences and tokens of the micro-batch,
///             hidden size of `shape`), of `dtype`; with rows shared out, Stage::row_shards > 1, the rank's
///             (ceil(sequences · tokens / row_shards), hidden)
///   forward   runs the chunk's modules; what they save is held until the micro-batch's backward pass
///   send      starts to send and goes on computing; the device memory of what is sent is held until the link
///             has carried it (in virtual time), and the step ends when everything has been carried
///   backward  runs the chunk's modules backwards; what they saved is freed
///
/// Everything is kept by micro-batch and chunk, so that any order of instructions will do in which each has
/// what it needs; messages are told apart the same way. With `recompute` a forward pass holds only the
/// chunk's input, and backward runs the forward pass again first (GPipe, section 2.3). Error, with the
/// micro-batch, for a program that uses what is not there.
double run_program(Comm& pipeline, Stage& stage, const Schedule& schedule, const ModelShape& shape,
                   DType dtype, std::span<const MicroBatch> micro_batches, double loss_scale, bool recompute);

/// The losses of the micro-batches, forward only, one after the other: their sum on the last stage, 0 on the
/// others.
double run_forward(Comm& pipeline, Stage& stage, const Schedule& schedule, const ModelShape& shape,
                   DType dtype, std::span<const MicroBatch> micro_batches);

}  // namespace pipeline
