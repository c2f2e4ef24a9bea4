// Case operations on the norm: which names a rank counts, and optimizer steps over the grid.
#pragma once

#include "lessons/09_3d/norm.hpp"
#include "tests/09_3d/driver_model.hpp"
#include "tests/09_3d/grid_gradient.hpp"

namespace grid_test {

/// The names that this rank of a tensor-parallel group counts on every stage ("NAME||…", a "|" behind each
/// place), and what it has there.
inline void counted_names(Case& c)
{
    const std::unique_ptr<tensor_parallel::Boundary> boundary = boundary_of(c, c.comm());
    for (int s = 0; s < c.integer("pp"); ++s) {
        const pipeline::Stage stage = stage_of(c, *boundary, s);
        std::string names;
        for (const std::string& name :
             grid::counted_names(shape_of(c), stage, c.comm().size(), c.comm().rank()))
            names += name + "|";
        c.put(fmt::format("names {}", s), names);
        for (const Parameter* parameter : parameters_of(stage.modules))
            put_slice(c, fmt::format("slice {} {}", s, parameter->name), parameter->slice);
    }
}

/// Sums the gradient of a step over the data-parallel group: its first rank has it, the others zeros.
inline void reduce_gradients(Case& c, RankOfGrid& rank, std::int64_t step)
{
    data_parallel::Gradients& gradients = *rank.replica.gradients;
    gradients.begin_step(1);
    for (std::size_t i = rank.stage.modules.size(); i-- > 0;) {
        gradients.before_backward(i);
        for (Parameter* parameter : rank.stage.modules[i]->parameters()) {
            if (rank.groups.data.data.rank() > 0) continue;
            from_doubles(grid_gradient(*parameter, static_cast<std::uint64_t>(c.integer("seed")), step),
                         parameter->gradient);
        }
        gradients.after_backward(i, 0);
    }
    gradients.finish();
}

/// Steps of the optimizer that span_grid gives.
inline void norm(Case& c)
{
    RankOfGrid rank(c);
    grid::span_grid(rank.replica, rank.groups, shape_of(c), rank.stage);
    const training::AdamW adamw{c.number("learning_rate"), 0.9, 0.95, 1e-8, 0.1};
    std::vector<double> norms;
    c.start_measuring();
    for (std::int64_t step = 0; step < c.integer("steps"); ++step) {
        reduce_gradients(c, rank, step);
        norms.push_back(rank.replica.optimizer->update(adamw, c.number("max_norm"), nullptr).gradient_norm);
    }
    rank.replica.values->release();
    c.stop_measuring();
    c.put("norms", norms);
    put_held(c, "value", rank.replica, *rank.replica.values);
}

}  // namespace grid_test
