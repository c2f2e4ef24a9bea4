#include "lessons/09_3d/grid.hpp"

#include "lib/machine/base/error.hpp"

using namespace grid;

Coordinates grid::coordinates_of(int rank, const Grid& grid)
{
    check(rank >= 0 && rank < grid.ranks(), "there is no rank {} in a grid of pp {} x dp {} x tp {}", rank,
          grid.pp, grid.dp, grid.tp);
    // Your code: see lessons/09_3d/grid.hpp (hints: make hint-09 PART=09.1)
    not_implemented("09.1 coordinates_of");
}

int grid::rank_of(const Coordinates& at, const Grid& grid)
{
    check(at.pp >= 0 && at.pp < grid.pp && at.dp >= 0 && at.dp < grid.dp && at.tp >= 0 && at.tp < grid.tp,
          "there is no device (pp {}, dp {}, tp {}) in a grid of pp {} x dp {} x tp {}", at.pp, at.dp, at.tp,
          grid.pp, grid.dp, grid.tp);
    // Your code: see lessons/09_3d/grid.hpp (hints: make hint-09 PART=09.1)
    not_implemented("09.1 rank_of");
}

Groups grid::make_groups(const Comm& world, const Grid& grid)
{
    check(world.size() == grid.ranks(), "there are {} ranks for a grid of pp {} x dp {} x tp {}: expected {}",
          world.size(), grid.pp, grid.dp, grid.tp, grid.ranks());
    // Your code: see lessons/09_3d/grid.hpp (hints: make hint-09 PART=09.1)
    not_implemented("09.1 make_groups");
}
