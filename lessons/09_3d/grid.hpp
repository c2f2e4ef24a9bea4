// 09.1 The grid of devices: three coordinates for every rank, and the groups along each of them (Narayanan et
// al. 2021, section 3).
#pragma once

#include "lessons/04_data_parallel/replica.hpp"
#include "lib/machine/comm/comm.hpp"

namespace grid {

using namespace shardlings;

/// Degrees of pipeline, data and tensor parallelism.
struct Grid {
    int pp = 1;
    int dp = 1;
    int tp = 1;

    int ranks() const { return pp * dp * tp; }
};

struct Coordinates {
    int pp;
    int dp;
    int tp;

    bool operator==(const Coordinates&) const = default;
};

/// Rank = (pp · DP + dp) · TP + tp: tensor-parallel ranks are next to each other, then data-parallel ones,
/// then the stages of the pipeline. Error for a rank outside of the grid.
Coordinates coordinates_of(int rank, const Grid& grid);
/// The other way round. Error for coordinates outside of the grid.
int rank_of(const Coordinates& at, const Grid& grid);

/// The groups of a rank: in each, one coordinate is the rank in the group and the other two are the same.
struct Groups {
    Comm everyone;
    Comm pipeline;              // by pp: sends activations and gradients to its neighbours
    data_parallel::Group data;  // by dp: sums gradients, shares optimizer states
    Comm tensor;                // by tp: computes the same rows together
};

/// Every rank of `world`, which has grid.ranks() of them, must call. Error, on every rank, when it has
/// another number.
Groups make_groups(const Comm& world, const Grid& grid);

}  // namespace grid
