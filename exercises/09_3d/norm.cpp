#include "lessons/09_3d/norm.hpp"

#include <algorithm>
#include <utility>

#include "lessons/01_transformer/model.hpp"
#include "lessons/06_pipeline/optimizer.hpp"
#include "lessons/08_tensor_parallel/model.hpp"
#include "lib/machine/base/error.hpp"

using namespace grid;

std::vector<std::string> grid::counted_names(const ModelShape& shape, const pipeline::Stage& stage,
                                             int tensor_ranks, int tensor_rank)
{
    const Modules whole = transformer::make_gpt(shape);
    const std::vector<Parameter*> model = parameters_of(whole);
    std::vector<std::string> names(model.size() * static_cast<std::size_t>(tensor_ranks));
    // Your code: see lessons/09_3d/norm.hpp (hints: make hint-09 PART=09.2)
    not_implemented("09.2 counted_names");
    return names;
}

void grid::span_grid(data_parallel::Replica& replica, Groups& groups, const ModelShape& shape,
                     const pipeline::Stage& stage)
{
    replica.optimizer = pipeline::make_pipeline_optimizer(
        groups.everyone, groups.data, counted_names(shape, stage, groups.tensor.size(), groups.tensor.rank()),
        nullptr, *replica.buckets, *replica.values, *replica.gradients, std::move(replica.optimizer));
}
