// The page's text that needs no script: what ran, and what came of it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "lib/tools/report/report.hpp"

namespace shardlings {

/// Text between tags or in a quoted attribute.
std::string html(std::string_view text);

/// "pp 2 × dp 2 × tp 2, 20 steps".
std::string title_of(const TrainOptions& options);

/// In what the baseline differs that decides what is learned, whatever the layout: "seed 2 (here 1), another
/// text".
std::string differences_from(const Baseline& baseline, const nlohmann::json& figures);

/// Named figures as a list of definitions.
std::string summary_html(const RunRecord& run, const std::optional<Baseline>& baseline);

/// What the charts show, per rank, for a browser without scripts.
std::string ranks_table_html(const RunRecord& run);

}  // namespace shardlings
