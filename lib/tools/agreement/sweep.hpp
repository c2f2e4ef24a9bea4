// Every legal layout of up to so many ranks, verified.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lib/machine/comm/session.hpp"
#include "lib/tools/agreement/verify.hpp"

namespace shardlings::agreement {

/// The flags of a training run -> its options. Error when it is not legal.
using ParseFlags = std::function<TrainOptions(const std::string& flags)>;

struct LayoutCase {
    int ranks;
    std::string flags;  // "--pp 2 --dp 2 --zero 1 --batch 8 --microbatches 2 …"
};

/// All combinations of pp, dp and tp with pp · dp · tp <= most_ranks; with them ZeRO 0 to 3 (dp > 1), the
/// schedules (pp > 1, interleaved with two chunks a stage), recomputation, and sequence parallelism (tp > 1),
/// with as many micro-batches as there are stages, at least 2; those that `parse` takes with `common` flags
/// in front. Ordered by ranks, then so that layouts compared with the same runs are next to each other.
std::vector<LayoutCase> legal_layouts(int most_ranks, const std::string& common, const ParseFlags& parse);

/// `count` of the cases (all, when there are not more), chosen by `seed`, in their order.
std::vector<LayoutCase> sample(std::vector<LayoutCase> cases, std::size_t count, std::uint64_t seed);

/// A verdict as JSON, for files and between processes.
nlohmann::json to_json(const LayoutCase& one, const Verdict& verdict);

struct SweepOptions {
    std::string common;             // flags of every run
    std::vector<std::string> self;  // the command that verifies a file of cases: … FILE FOLDER, see run_cases
    double limit = 120.0;           // seconds that a layout may take
};

/// Runs all cases, several in one MPI job, prints a row for each as it comes, and returns their verdicts; a
/// case whose job fails or takes too long has "failed" with what it said instead of steps.
nlohmann::json run_sweep(const std::vector<LayoutCase>& cases, const SweepOptions& options);

/// What the ranks of such a job do: verify the cases of `file`, one a line, and write the verdicts to
/// folder/0000.json, …
void run_cases(MpiSession& session, const std::string& file, const std::string& folder,
               const ParseFlags& parse);

/// Prints a verdict: a line for each step and quantity, then what was promised and whether it is kept.
void print_verdict(const TrainOptions& options, const Verdict& verdict);

}  // namespace shardlings::agreement
