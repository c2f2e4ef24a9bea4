// A training run from its options to its reports.
#pragma once

#include "lib/machine/comm/session.hpp"
#include "lib/tools/data/text.hpp"
#include "lib/tools/train/options.hpp"

namespace shardlings {

/// What the options say is learned: a file, or the lessons' texts.
Text text_of(const TrainOptions& options);

/// Looks at all that can fail before ranks are started: the data, the checkpoint to load, the folders and
/// files to write. Error for the first that does.
void prepare_training(TrainOptions options);

/// What every rank runs. Rank 0 prints the progress and writes the files.
void run_training(TrainOptions options, MpiSession& session);

}  // namespace shardlings
