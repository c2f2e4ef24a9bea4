// A model whole, as checkpoints hold it, and how it comes together from shards and is cut into them again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lessons/02_training_step/mixed_precision.hpp"
#include "lessons/04_data_parallel/replica.hpp"
#include "lib/machine/base/model_shape.hpp"
#include "lib/machine/nn/module.hpp"

namespace shardlings {

/// All parameters and optimizer states of a model, on a device of its own that has no budget: this machine's
/// memory, as a file is written from.
class WholeModel {
  public:
    WholeModel(const ModelShape& shape, DType dtype);

    FlatParameters& parameters() { return parameters_; }
    training::OptimizerStates& states() { return states_; }
    /// Of the parameters, in the order of the layout.
    const std::vector<std::string>& names() const { return names_; }

  private:
    Device device_;
    Modules modules_;
    FlatParameters parameters_;
    training::OptimizerStates states_;
    std::vector<std::string> names_;
};

/// Brings the parts that every rank updates to rank 0 of `comm`, which returns the whole; nullptr on the
/// others. All ranks must call; those with `sends` = false hold nothing that others do not. A parameter that
/// two ranks hold, as the stages at the ends hold the tied embedding, is the same on both.
std::unique_ptr<WholeModel> collect_whole(Comm& comm, data_parallel::Replica& replica, bool sends,
                                          const ModelShape& shape, DType dtype);

/// Takes this rank's part of the whole: values, optimizer states and step.
void take_part(WholeModel& whole, data_parallel::Replica& replica);

}  // namespace shardlings
