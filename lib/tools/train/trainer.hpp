// The training step of one device: its part of the model, of the gradients and of the optimizer states.
#pragma once

#include "lessons/04_data_parallel/replica.hpp"
#include "lessons/06_pipeline/schedule.hpp"
#include "lessons/06_pipeline/stage.hpp"
#include "lessons/08_tensor_parallel/boundary.hpp"
#include "lessons/09_3d/grid.hpp"
#include "lessons/09_3d/step.hpp"
#include "lib/machine/nn/module.hpp"
#include "lib/tools/train/options.hpp"

namespace shardlings {

struct StepReport {
    double loss = 0.0;             // mean over the counted tokens of the global batch, in nats
    double gradient_norm = 0.0;    // of the global batch, before clipping
    bool skipped = false;          // fp16 overflow
    double exposed_seconds = 0.0;  // virtual time in which this device waited for messages
    double busy_seconds = 0.0;     // virtual time in which it computed
};

/// The grid of a layout.
grid::Grid grid_of(const Layout& layout);

class Trainer {
  public:
    /// Builds this rank's part of the model of `options`, laid out as they say, and initialises it from the
    /// seed. Every rank of `world` must call it; `options` must outlive it. Error when the layout has another
    /// number of ranks.
    Trainer(const Comm& world, const TrainOptions& options);

    /// The two halves of step(): the gradients of a global batch, of which the report has the loss; and the
    /// update with them, which fills in the rest.
    StepReport backward(const MicroBatch& global_batch, std::int64_t step);
    void update(std::int64_t step, StepReport& report);

    /// One optimizer step, number `step` (1, 2, …), over a global batch, which is the same on every rank. So
    /// is the report, but for its exposed and busy seconds.
    StepReport step(const MicroBatch& global_batch, std::int64_t step);

    /// The mean loss of a global batch, in nats a token, in as many micro-batches as a step; changes nothing.
    double evaluate(const MicroBatch& global_batch);

    /// True when of all ranks that hold the same elements of a parameter, which is one of this rank's, this
    /// one stands for them: in a checkpoint every element comes from one rank.
    bool stands_for(const Parameter& parameter) const;

    data_parallel::Replica& replica() { return replica_; }
    const grid::Groups& groups() const { return groups_; }
    training::LossScale& loss_scale() { return loss_scale_; }

  private:
    std::vector<MicroBatch> own_part(const MicroBatch& global_batch) const;
    grid::Participant participant();
    bool is_scaled() const { return options_.dtype == DType::fp16; }

    const TrainOptions& options_;
    grid::Groups groups_;
    std::unique_ptr<tensor_parallel::Boundary> boundary_;
    pipeline::Schedule schedule_;
    pipeline::Stage stage_;
    data_parallel::Replica replica_;
    training::LossScale loss_scale_;
};

}  // namespace shardlings
