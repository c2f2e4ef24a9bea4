// 09.2 The norm of the whole model's gradient, over the grid.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lessons/06_pipeline/stage.hpp"
#include "lessons/09_3d/grid.hpp"
#include "lib/machine/base/model_shape.hpp"

namespace grid {

/// Where this rank's terms of the norm go (lesson 06.5's `names`): a list with T places for each parameter of
/// the model, in the model's order, one for each rank of the tensor-parallel group, so that no two ranks'
/// terms share a place and the norm has the same bits however the ranks are numbered. Place tensor_rank of a
/// parameter has its name if this rank counts it, all others "".
///
/// Not counted are elements that another rank counts: of a parameter that all ranks of a tensor-parallel
/// group have whole, those of its rank 0 count, and of the tied embedding the first stage's. (Which
/// data-parallel rank counts what, the shards say.)
std::vector<std::string> counted_names(const ModelShape& shape, const pipeline::Stage& stage,
                                       int tensor_ranks, int tensor_rank);

/// Puts the optimizer of a replica that spans the grid in place of the one that it has: the update is clipped
/// by the norm over the whole model (lesson 06.5).
void span_grid(data_parallel::Replica& replica, Groups& groups, const ModelShape& shape,
               const pipeline::Stage& stage);

}  // namespace grid
