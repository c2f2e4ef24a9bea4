// Calls of accumulate_gradients and evaluate_loss, one after the other, on the ranks of a grid, as a case.
#pragma once

#include "tests/09_3d/pieces.hpp"

namespace grid_test {

struct StepCall {
    bool evaluates = false;
    bool recompute = false;
    double loss_scale = 1.0;
};

struct StepRun {
    GridRun grid;
    std::string schedule = "1f1b";
    std::int64_t micro_batches = 2;  // of each data-parallel rank
    std::int64_t sequences = 1;      // of a micro-batch
    std::vector<StepCall> calls{{true}, {false}, {true}, {false, true, 8.0}};

    std::string name() const;
};

NamedCase step_case(const StepRun& run);

}  // namespace grid_test
