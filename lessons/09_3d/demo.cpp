// The groups of a grid of 2 x 3 x 2 devices, each named by the sum of 2^rank over its members.
#include "lessons/09_3d/run.hpp"

using namespace lesson;

namespace {

void show_groups(Comm& world)
{
    // BEGIN groups
    const grid::Grid degrees{.pp = 2, .dp = 3, .tp = 2};
    grid::Groups groups = grid::make_groups(world, degrees);
    const std::int64_t pipeline = sum_of_powers(groups.pipeline, world.rank());
    const std::int64_t data = sum_of_powers(groups.data.data, world.rank());
    const std::int64_t tensor = sum_of_powers(groups.tensor, world.rank());
    // END groups
    const auto rows = gather_numbers(
        world, {static_cast<double>(pipeline), static_cast<double>(data), static_cast<double>(tensor)});
    if (world.rank() > 0) return;
    fmt::print("         pp dp tp   pipeline           data               tensor\n");
    for (std::size_t rank = 0; rank < rows.size(); ++rank) {
        const grid::Coordinates at = grid::coordinates_of(static_cast<int>(rank), degrees);
        fmt::print("rank {:>2}  {}  {}  {}", rank, at.pp, at.dp, at.tp);
        for (const double sum : rows[rank]) fmt::print("  {0:>4} {0:012b}", static_cast<std::int64_t>(sum));
        fmt::print("\n");
    }
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        Device device({.rank = session.rank(), .topology = {.devices_per_node = 12}});
        Comm world = Comm::world(device);
        show_groups(world);
        return 0;
    });
}
