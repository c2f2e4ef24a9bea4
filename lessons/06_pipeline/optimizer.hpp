// 06.5 The optimizer step of one stage, clipped by the norm of the whole model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lessons/04_data_parallel/replica.hpp"

namespace pipeline {

using namespace shardlings;

/// An optimizer over what `inner` has of a stage's buckets (its parts and states), whose norm is that of the
/// model: every rank puts the terms (data_parallel::norm_terms) of the segments whose owner it is into a list
/// with `degree` places for each parameter of the model, in the model's order, and the lists are summed over
/// `everyone`, all ranks of all stages. So the terms are added in the order of a single process. `names`: the
/// model's parameters, in order; one that this rank shall not count has "" in its place. The last stage's
/// copy of the tied embedding, `uncounted`, does not count again (nullptr elsewhere). Afterwards shards are
/// gathered where inner updates shards only.
std::unique_ptr<data_parallel::Optimizer> make_pipeline_optimizer(
    Comm& everyone, data_parallel::Group& group, std::vector<std::string> names, const Parameter* uncounted,
    const std::vector<data_parallel::Bucket>& buckets, data_parallel::ParameterValues& values,
    data_parallel::Gradients& gradients, std::unique_ptr<data_parallel::Optimizer> inner);

}  // namespace pipeline
