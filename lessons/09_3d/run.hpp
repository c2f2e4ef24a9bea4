// Runs of the page's programs: the example of 32 devices, and groups that show who is in them.
#pragma once

#include <cmath>

#include "lessons/03_collectives/ring.hpp"
#include "lessons/06_pipeline/run.hpp"
#include "lessons/09_3d/grid.hpp"

namespace lesson {

/// 8 blocks, h = 64, 8 heads, 32 tokens, 256 entries; 16 sequences in 4 micro-batches; fp64. 4 nodes of 8
/// devices of 10 GFLOP/s.
inline TrainOptions example_run()
{
    TrainOptions options = small_run(1);
    options.shape = {8, 64, 8, 32, 256};
    options.micro_batches = 4;
    options.dtype = DType::fp64;
    options.topology.nodes = 4;
    options.topology.devices_per_node = 8;
    options.topology.flops = 1e10;
    return options;
}

/// The same on PP 4 x DP 2 x TP 4.
inline TrainOptions example_on_grid(int zero)
{
    TrainOptions options = example_run();
    options.layout = {.pp = 4, .dp = 2, .tp = 4, .zero = zero, .schedule = "1f1b"};
    return options;
}

/// The sum of 2^rank over a group, by its ranks in the world: a number that no other group has.
inline std::int64_t sum_of_powers(Comm& group, int world_rank)
{
    double power = std::ldexp(1.0, world_rank);
    collectives::ring_all_reduce(group, buffer_of(std::span(&power, 1)));
    return static_cast<std::int64_t>(power);
}

}  // namespace lesson
