// 02.3 Gradient accumulation: a batch in several micro-batches.
#pragma once

#include <span>
#include <vector>

#include "lib/machine/nn/module.hpp"

namespace training {

using namespace shardlings;

/// Cuts B sequences into `micro_batches` equal parts, in order, with index 0, 1, …. Every part's token_weight
/// is 1 / (targets of the whole batch that are not −1), so that the parts' losses and gradients add up to the
/// batch's. Error when the number does not divide B, or no target counts.
std::vector<MicroBatch> split_batch(const MicroBatch& batch, std::int64_t micro_batches);

/// Forward and backward of every micro-batch, in order. Adds loss_scale · d(loss)/d(parameter) to the
/// gradients; second gradients are merged once, after the last micro-batch, so that every schedule adds in
/// the same order. Returns the loss of the batch (not scaled). At any time the activations of one micro-batch
/// only are held.
double accumulate_gradients(const Modules& modules, std::span<const MicroBatch> micro_batches,
                            double loss_scale);

/// The loss of the micro-batches, forward only: gradients stay as they are, and of all activations only what
/// the next module needs is held.
double evaluate_loss(const Modules& modules, std::span<const MicroBatch> micro_batches);

}  // namespace training
