// One HTML page of a run, to read without a network: its figures, losses, timeline, memory, traffic, layout.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lib/tools/train/run.hpp"

namespace shardlings {

/// Another run's figures, whose losses stand beside the run's own.
struct Baseline {
    std::string name;        // the file
    nlohmann::json figures;  // "steps", with "step" and "loss" each; "config" where it is known
};

/// What `shardlings train --json` wrote of a run. Error when the file is something else.
Baseline read_baseline(const std::string& path);

/// Error unless the path ends in .html and is neither of the run's other files.
void check_report_path(const TrainOptions& options);

/// Writes the page; the same run gives the same bytes. It appears whole or not at all; Error when it cannot
/// be written.
void write_report(const std::string& path, const RunRecord& run, const std::optional<Baseline>& baseline);

}  // namespace shardlings
