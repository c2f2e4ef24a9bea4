// The training step of one device: the model, its gradients and its optimizer states.
#pragma once

#include <span>

#include "lessons/02_training_step/mixed_precision.hpp"
#include "lib/machine/nn/module.hpp"
#include "lib/tools/train/options.hpp"

namespace shardlings {

struct StepReport {
    double loss = 0.0;           // mean over the counted tokens of the batch, in nats
    double gradient_norm = 0.0;  // before clipping
    bool skipped = false;        // fp16 overflow
};

class Trainer {
  public:
    /// Builds the model of `options` on `device` and initialises it from the seed.
    Trainer(Device& device, const TrainOptions& options);

    /// One optimizer step, number `step` (1, 2, …), over a global batch.
    StepReport step(const MicroBatch& batch, std::int64_t step);

    /// The mean loss of a batch, in nats a token, in as many micro-batches as a step; changes nothing.
    double evaluate(const MicroBatch& batch) const;

    const Modules& modules() const { return modules_; }
    FlatParameters& parameters() { return parameters_; }
    training::OptimizerStates& states() { return states_; }
    training::LossScale& loss_scale() { return loss_scale_; }

  private:
    const TrainOptions& options_;
    Modules modules_;
    FlatParameters parameters_;
    training::OptimizerStates states_;
    training::LossScale loss_scale_;
};

}  // namespace shardlings
