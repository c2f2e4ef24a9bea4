// Programs over probes as cases: what comes out is compared call by call with the replay.
#pragma once

#include "tests/06_pipeline/replay.hpp"

namespace pipeline_test {

NamedCase probe_case(ProbeRun run);

/// Inputs of one rank of a run; `stage` < 0: it is in no pipeline.
json probe_inputs(const ProbeRun& run, int pipeline, int stage);

/// The messages about what one stage left against its replay. `ranks`: world ranks of the pipeline.
std::vector<std::string> compare_stage(const ProbeRun& run, const StageReplay& expected,
                                       const std::vector<int>& ranks, const RankResult& got);

}  // namespace pipeline_test
