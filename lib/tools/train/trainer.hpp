// The training step of one device: its part of the model, of the gradients and of the optimizer states.
#pragma once

#include "lessons/04_data_parallel/replica.hpp"
#include "lessons/06_pipeline/schedule.hpp"
#include "lessons/06_pipeline/stage.hpp"
#include "lessons/08_tensor_parallel/boundary.hpp"
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

/// Where a rank is in the grid: tensor-parallel ranks are next to each other, then data-parallel ones, then
/// the pipeline's stages.
struct Coordinates {
    int pp;
    int dp;
    int tp;
};
Coordinates coordinates_of(int rank, const Layout& layout);

class Trainer {
  public:
    /// Builds this rank's part of the model of `options`, laid out as they say, and initialises it from the
    /// seed. Every rank of `world` must call it; `options` must outlive it.
    Trainer(const Comm& world, const TrainOptions& options);

    /// One optimizer step, number `step` (1, 2, …), over a global batch, which is the same on every rank. So
    /// is the report, but for its exposed and busy seconds.
    StepReport step(const MicroBatch& global_batch, std::int64_t step);

    /// The mean loss of a global batch, in nats a token, in as many micro-batches as a step; changes nothing.
    double evaluate(const MicroBatch& global_batch);

    data_parallel::Replica& replica() { return replica_; }
    const data_parallel::Group& group() const { return group_; }
    const Comm& pipeline() const { return pipeline_; }
    const Comm& tensor_group() const { return tensor_group_; }
    training::LossScale& loss_scale() { return loss_scale_; }

  private:
    std::vector<MicroBatch> own_part(const MicroBatch& global_batch) const;
    double accumulate(const MicroBatch& global_batch, double loss_scale);
    double sum_of_losses(double loss);

    const TrainOptions& options_;
    Comm everyone_;
    Comm pipeline_;
    Comm tensor_group_;
    data_parallel::Group group_;
    std::unique_ptr<tensor_parallel::Boundary> boundary_;
    ::pipeline::Schedule schedule_;
    ::pipeline::Stage stage_;
    data_parallel::Replica replica_;
    training::LossScale loss_scale_;
};

}  // namespace shardlings
