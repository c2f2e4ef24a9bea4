// A driver run in a sandbox, as a submission's is.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lib/tools/grade/outcome.hpp"
#include "lib/tools/launch/launch.hpp"

namespace grade {

/// Set by the grader in a judge's environment: drivers run in a sandbox.
inline constexpr const char* sandbox_variable = "SHARDLINGS_SANDBOX";

bool sandbox_wanted();

/// Runs the driver `program` on the cases from `first` on, with as many ranks as they have, and takes into
/// `outcomes` what comes out. Inside there is nothing but the driver, pipes, and the watch, which tells a
/// deadlock about the file `source` and ends the run; see judge_pipes.hpp and lib/tools/watch/supervise.hpp.
/// `limit` and `folder` as for run_captured.
shardlings::ProcessResult run_in_sandbox(const std::string& program, const std::string& source,
                                         const nlohmann::json& cases, std::size_t first, double limit,
                                         const std::string& folder, Outcomes& outcomes);

}  // namespace grade
