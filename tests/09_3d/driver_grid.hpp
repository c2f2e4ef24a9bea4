// Case operations on the grid: coordinates and groups.
#pragma once

#include <cmath>

#include "lessons/03_collectives/recursive_doubling.hpp"
#include "lessons/09_3d/grid.hpp"
#include "tests/06_pipeline/driver_schedule.hpp"

namespace grid_test {

using namespace grade;
using grid::Coordinates;
using grid::Grid;
using grid::Groups;

inline Grid grid_of(Case& c)
{
    return {static_cast<int>(c.integer("pp")), static_cast<int>(c.integer("dp")),
            static_cast<int>(c.integer("tp"))};
}

/// The message of the Error that a call ends with; empty when it ends without.
template <class Function>
std::string refusal_of(const Function& call)
{
    try {
        call();
    } catch (const NotImplemented&) {
        throw;
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

/// The coordinates of every rank, the rank of all coordinates in the order of pp, dp, tp, and how those of
/// "bad_ranks" and "bad_coordinates" are refused.
inline void coordinates(Case& c)
{
    const Grid grid = grid_of(c);
    std::vector<double> coordinates, ranks;
    for (int rank = 0; rank < grid.ranks(); ++rank) {
        const Coordinates at = grid::coordinates_of(rank, grid);
        for (const int number : {at.pp, at.dp, at.tp}) coordinates.push_back(number);
    }
    for (int pp = 0; pp < grid.pp; ++pp)
        for (int dp = 0; dp < grid.dp; ++dp)
            for (int tp = 0; tp < grid.tp; ++tp) ranks.push_back(grid::rank_of({pp, dp, tp}, grid));
    c.put("coordinates", coordinates);
    c.put("ranks", ranks);
    for (const std::int32_t rank : c.ids("bad_ranks"))
        c.put(fmt::format("rank {}", rank), refusal_of([&] { grid::coordinates_of(rank, grid); }));
    const std::vector<std::int32_t> bad = c.ids("bad_coordinates");
    for (std::size_t i = 0; i + 2 < bad.size(); i += 3)
        c.put(fmt::format("({}, {}, {})", bad[i], bad[i + 1], bad[i + 2]), refusal_of([&] {
                  grid::rank_of({bad[i], bad[i + 1], bad[i + 2]}, grid);
              }));
}

/// Its ranks, in order, by their numbers in the world; the own one; and the sum of `number` over it.
inline void put_group(Case& c, const std::string& name, Comm& group, double number)
{
    std::vector<double> members;
    for (int rank = 0; rank < group.size(); ++rank) members.push_back(group.world_rank(rank));
    collectives::recursive_doubling_all_reduce(group, buffer_of(std::span(&number, 1)));
    c.put(name + " members", members);
    c.put(name + " rank", static_cast<double>(group.rank()));
    c.put(name + " sum", number);
}

/// The groups of a world whose ranks are those of the job, ordered by "key".
inline void groups(Case& c)
{
    const Comm world = c.comm().split(0, static_cast<int>(c.integer("key")));
    c.start_measuring();
    Groups groups = grid::make_groups(world, grid_of(c));
    c.stop_measuring();
    const double number = std::ldexp(1.0, c.comm().rank());
    put_group(c, "everyone", groups.everyone, number);
    put_group(c, "pipeline", groups.pipeline, number);
    put_group(c, "data", groups.data.data, number);
    put_group(c, "control", groups.data.control, number);
    put_group(c, "tensor", groups.tensor, number);
}

inline void groups_refused(Case& c)
{
    c.put("refusal", refusal_of([&] { grid::make_groups(c.comm(), grid_of(c)); }));
}

}  // namespace grid_test
