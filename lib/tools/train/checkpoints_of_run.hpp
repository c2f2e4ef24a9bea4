// How a training run saves its checkpoints and goes on from one.
#pragma once

#include <cstdint>

#include "lib/machine/comm/comm.hpp"
#include "lib/tools/train/trainer.hpp"

namespace shardlings {

/// Error when the folder cannot hold checkpoints, or holds those of another run, among which the newest would
/// not be this run's.
void check_can_save(const TrainOptions& options);

/// Saves a step under options.save: whole, through rank 0, or with options.save_shards every rank its part.
/// Every rank must call it. However the job ends, the step's folder is whole or not there; what cannot be
/// written is an Error, and then nothing of the step is left.
void save_step(Comm& world, const TrainOptions& options, Trainer& trainer, std::int64_t step);

/// Loads the checkpoint that is asked for, on every rank, and returns the steps that were done when it was
/// saved. It may have been saved by any other layout. `says`: print which.
std::int64_t resume(const TrainOptions& options, Trainer& trainer, bool says);

}  // namespace shardlings
