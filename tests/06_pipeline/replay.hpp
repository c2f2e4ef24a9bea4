// What the engine must do with a schedule of probes, worked out without running it: every call with its time
// and memory.
#pragma once

#include <map>

#include "tests/06_pipeline/probes.hpp"
#include "tests/06_pipeline/schedule_support.hpp"

namespace pipeline_test {

/// Programs over probes on one or more pipelines at the same time.
struct ProbeRun {
    std::string name;
    Schedule schedule;
    std::vector<int> chunk_modules;  // of every chunk of the model
    ProbeModel model;
    std::vector<std::int64_t> sequences;  // of every micro-batch
    std::int64_t tokens = 1;
    bool recompute = false;
    double loss_scale = 1.0;
    Link link{0.0, 1e300};
    double flops = 1e12;                      // of a device and second
    bool forward_only = false;                // run_forward
    std::vector<std::vector<int>> pipelines;  // world ranks in the order of the stages

    std::uint64_t bytes_of(int micro_batch) const
    {
        return static_cast<std::uint64_t>(sequences[static_cast<std::size_t>(micro_batch)] * tokens *
                                          model.hidden) *
               size_of(model.dtype);
    }
};

/// One call of a module.
struct Call {
    char pass;
    std::size_t module;
    int micro_batch;
    double time;
    std::uint64_t held;
};

/// What one stage does and leaves.
struct StageReplay {
    std::vector<Call> calls;
    double end = 0.0;
    std::uint64_t peak = 0;
    double loss = 0.0;
    std::map<int, std::pair<std::uint64_t, std::uint64_t>> sent;  // messages and bytes, by stage
};

std::vector<StageReplay> replay(const ProbeRun& run);

}  // namespace pipeline_test
