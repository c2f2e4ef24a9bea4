// A stage's training run on several ranks, held to plain data parallelism.
#pragma once

#include "tests/05_zero/training_run.hpp"

namespace zero_test {

NamedCase training_case(const TrainingCase& one);

/// The case's inputs on every rank.
CaseInput training_input(const TrainingCase& one, const std::string& operation);

}  // namespace zero_test
