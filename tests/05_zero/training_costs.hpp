// The bytes that a stage holds and sends in a training run.
#pragma once

#include "tests/05_zero/training_run.hpp"

namespace zero_test {

struct Bytes {
    std::uint64_t now, peak;
};

struct TrainingCosts {
    Bytes parameters, gradients, optimizer_states;
    std::uint64_t messages, sent;  // over group.data, in the whole run
    std::uint64_t control_messages, control_sent;
};

/// Of rank `rank`.
TrainingCosts training_costs(const TrainingCase& one, const PlainRun& run, int rank);

}  // namespace zero_test
