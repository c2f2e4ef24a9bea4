// A training run from its options to its reports.
#pragma once

#include "lib/machine/comm/session.hpp"
#include "lib/tools/train/options.hpp"

namespace shardlings {

/// Looks at all that can fail before ranks are started: the data, the checkpoint to load, the folders and
/// files to write. Error for the first that does.
void prepare_training(TrainOptions options);

/// What every rank runs. Rank 0 prints the progress and writes the files.
void run_training(TrainOptions options, MpiSession& session);

}  // namespace shardlings
