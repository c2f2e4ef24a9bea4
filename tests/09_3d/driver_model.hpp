// What one rank of a grid has of a GPT, and how it is shown.
#pragma once

#include "lessons/05_zero/zero.hpp"
#include "lessons/09_3d/step.hpp"
#include "tests/06_pipeline/driver_stage.hpp"
#include "tests/09_3d/driver_grid.hpp"

namespace grid_test {

using pipeline_test::blocks_of;
using pipeline_test::shape_of;

inline std::unique_ptr<tensor_parallel::Boundary> boundary_of(Case& c, Comm& tensor)
{
    return c.flag("sequence_parallel") ? tensor_parallel::make_sequence_boundary(tensor)
                                       : tensor_parallel::make_replicated_boundary(tensor);
}

/// Stage `stage` of the model; with a single tensor-parallel rank of lesson 01's modules.
inline pipeline::Stage stage_of(Case& c, tensor_parallel::Boundary& boundary, int stage)
{
    const pipeline::ModelParts parts =
        boundary.group().size() == 1
            ? pipeline::gpt_parts(shape_of(c))
            : grid::cut_parts(boundary, shape_of(c), {}, c.flag("sequence_parallel"));
    return pipeline::make_stage(parts, blocks_of(c), static_cast<int>(c.integer("pp")), stage);
}

/// Which part of the global tensor a parameter is.
inline void put_slice(Case& c, const std::string& name, const Slice& slice)
{
    std::vector<double> numbers;
    for (const Shape& shape : {slice.global, slice.offset, slice.shape})
        numbers.insert(numbers.end(), shape.begin(), shape.end());
    c.put(name, numbers);
}

/// One rank's groups, stage and replica; not hooked.
struct RankOfGrid {
    Groups groups;
    std::unique_ptr<tensor_parallel::Boundary> boundary;
    pipeline::Stage stage;
    data_parallel::Replica replica;

    explicit RankOfGrid(Case& c)
        : groups(grid::make_groups(c.comm(), grid_of(c))),
          boundary(boundary_of(c, groups.tensor)),
          stage(stage_of(c, *boundary, groups.pipeline.rank())),
          replica(zero::make_zero_replica(
              static_cast<int>(c.integer("zero")), groups.data, stage.modules,
              {parse_dtype(c.text("dtype")), pipeline_test::initial_seed, c.integer("bucket_bytes"), true},
              {}))
    {
        for (const data_parallel::Bucket& bucket : *replica.buckets)
            for (const FlatEntry& entry : bucket.entries)
                put_slice(c, "slice " + entry.parameter->name, entry.parameter->slice);
    }
};

/// What this rank holds of every parameter: which element of its slice comes first, and the numbers.
template <class Holder>
void put_held(Case& c, const std::string& what, const data_parallel::Replica& replica, Holder& holder)
{
    for (std::size_t b = 0; b < replica.buckets->size(); ++b) {
        const data_parallel::Held held = holder.held(b);
        const std::int64_t end = held.part.offset + held.part.count;
        for (const FlatEntry& entry : (*replica.buckets)[b].entries) {
            const std::int64_t first = std::max(entry.offset, held.part.offset);
            const std::int64_t last = std::min(entry.offset + entry.parameter->elements(), end);
            if (first >= last) continue;
            const std::string name = what + " " + entry.parameter->name;
            c.put("first " + name, static_cast<double>(first - entry.offset));
            c.put(name, to_doubles(held.tensor.view(first - held.part.offset, {last - first})));
        }
    }
}

}  // namespace grid_test
