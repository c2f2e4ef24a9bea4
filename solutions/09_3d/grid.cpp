#include "lessons/09_3d/grid.hpp"

#include "lib/machine/base/error.hpp"

using namespace grid;

Coordinates grid::coordinates_of(int rank, const Grid& grid)
{
    check(rank >= 0 && rank < grid.ranks(), "there is no rank {} in a grid of pp {} x dp {} x tp {}", rank,
          grid.pp, grid.dp, grid.tp);
    // BEGIN SOLUTION 09.1 coordinates_of
    return {rank / (grid.dp * grid.tp), rank / grid.tp % grid.dp, rank % grid.tp};
    // END SOLUTION
}

int grid::rank_of(const Coordinates& at, const Grid& grid)
{
    check(at.pp >= 0 && at.pp < grid.pp && at.dp >= 0 && at.dp < grid.dp && at.tp >= 0 && at.tp < grid.tp,
          "there is no device (pp {}, dp {}, tp {}) in a grid of pp {} x dp {} x tp {}", at.pp, at.dp, at.tp,
          grid.pp, grid.dp, grid.tp);
    // BEGIN SOLUTION 09.1 rank_of
    return (at.pp * grid.dp + at.dp) * grid.tp + at.tp;
    // END SOLUTION
}

Groups grid::make_groups(const Comm& world, const Grid& grid)
{
    check(world.size() == grid.ranks(), "there are {} ranks for a grid of pp {} x dp {} x tp {}: expected {}",
          world.size(), grid.pp, grid.dp, grid.tp, grid.ranks());
    // BEGIN SOLUTION 09.1 make_groups
    const Coordinates at = coordinates_of(world.rank(), grid);
    return {world.split(0, world.rank()), world.split(rank_of({0, at.dp, at.tp}, grid), at.pp),
            data_parallel::make_group(world.split(rank_of({at.pp, 0, at.tp}, grid), at.dp)),
            world.split(rank_of({at.pp, at.dp, 0}, grid), at.tp)};
    // END SOLUTION
}
