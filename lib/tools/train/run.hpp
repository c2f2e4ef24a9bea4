// A training run from its options to its reports.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "lib/machine/comm/session.hpp"
#include "lib/tools/data/text.hpp"
#include "lib/tools/trace/trace.hpp"
#include "lib/tools/train/options.hpp"

namespace shardlings {

/// What the options say is learned: a file, or the lessons' texts.
Text text_of(const TrainOptions& options);

/// Looks at all that can fail before ranks are started: the data, the checkpoint to load, the folders and
/// files to write. Error for the first that does.
void prepare_training(TrainOptions options);

/// What a run leaves on rank 0: the options it had, the figures of --json, and, when one was asked for, every
/// rank's record.
struct RunRecord {
    const TrainOptions& options;
    const nlohmann::json& figures;
    const std::vector<RankTrace>& traces;
};
using ReportWriter = std::function<void(const RunRecord&)>;

/// What every rank runs. Rank 0 prints the progress and writes the files; the one of --report by
/// `write_report`, which the run records for and calls at its end when that option is given.
void run_training(TrainOptions options, MpiSession& session, const ReportWriter& write_report);

}  // namespace shardlings
