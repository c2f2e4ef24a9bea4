// 09.2 The norm of the whole model's gradient, over the grid.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lessons/06_pipeline/stage.hpp"
#include "lessons/09_3d/grid.hpp"
#include "lib/machine/base/model_shape.hpp"

namespace grid {

/// The names of the model's parameters, in the model's order, with "" in place of those that this rank does
/// not count in the norm, because another one counts the same elements: a parameter that all ranks of a
/// tensor-parallel group have whole is counted by its rank 0, the tied embedding by the first stage. (Which
/// data-parallel rank counts what, the shards say: lesson 06.5.) A parameter of another stage keeps its name.
std::vector<std::string> counted_names(const ModelShape& shape, const pipeline::Stage& stage,
                                       int tensor_rank);

/// Puts the optimizer of a replica that spans the grid in place of the one that it has: the update is clipped
/// by the norm over the whole model (lesson 06.5).
void span_grid(data_parallel::Replica& replica, Groups& groups, const ModelShape& shape,
               const pipeline::Stage& stage);

}  // namespace grid
