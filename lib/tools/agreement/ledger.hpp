// What lesson 10 predicts of a device beside what the device has counted.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "lessons/10_counting/job.hpp"
#include "lib/tools/train/trainer.hpp"

namespace shardlings::agreement {

struct Entry {
    std::string what;
    double predicted;
    double counted;
    double allowed = 0.0;  // difference

    bool agree() const { return std::abs(predicted - counted) <= allowed; }
};

counting::Job job_of(const TrainOptions& options);
counting::Place place_of(const Trainer& trainer);

/// Of this rank, after `options.steps` steps. The ranks' clocks are compared on one of them: `step_seconds`
/// is what a step took on rank 0, not finite on the others.
std::vector<Entry> ledger_of(const Device& device, const Trainer& trainer, const TrainOptions& options,
                             double step_seconds);

/// What lesson 10 says a step of `options` takes on such devices.
double predicted_seconds(const Topology& topology, const TrainOptions& options);

/// The entries of all ranks that do not agree, as text, on rank 0 of `comm`; every rank must call it.
std::vector<std::string> disagreeing(Comm& comm, const std::vector<Entry>& own);

}  // namespace shardlings::agreement
