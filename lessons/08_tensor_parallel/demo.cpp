// An MLP of two layers on two ranks, with numbers to follow by hand: a column of A and a row of B each.
// φ(z) = z² stands for GELU, so that everything is whole.
#include <array>

#include "lessons/03_collectives/ring.hpp"
#include "lessons/06_pipeline/run.hpp"

using namespace shardlings;

namespace {

using Row = std::array<double, 2>;

Row sum_over_ranks(Comm& comm, Row partial)
{
    collectives::ring_all_reduce(comm, buffer_of(std::span<double>(partial)));
    return partial;
}

void say(Comm& comm, double z, double g, const Row& y_part, const Row& y, double dz, const Row& dx_part,
         const Row& dx)
{
    const auto rows = lesson::gather_numbers(
        comm, {z, g, y_part[0], y_part[1], y[0], y[1], dz, dx_part[0], dx_part[1], dx[0], dx[1]});
    for (std::size_t rank = 0; rank < rows.size(); ++rank) {
        const std::vector<double>& n = rows[rank];
        fmt::print(
            "rank {}: z = {}, g = {}   y: {} {:>2}, sum {} {}   dz = {:>2}   dx: {:>2} {:>3}, sum {} {}\n",
            rank, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10]);
    }
}

void pass_through(Comm& comm)
{
    constexpr Row x{1, 2};
    constexpr std::array<Row, 2> a{{{1, 3}, {1, -1}}};  // rows of A
    constexpr std::array<Row, 2> b{{{1, 2}, {5, 1}}};   // rows of B
    const auto own = static_cast<std::size_t>(comm.rank());
    // BEGIN passes
    const Row a_column{a[0][own], a[1][own]};
    const Row b_row = b[own];
    const double z = x[0] * a_column[0] + x[1] * a_column[1];
    const double g = z * z;  // the own column needs no other
    const Row y_part{g * b_row[0], g * b_row[1]};
    const Row y = sum_over_ranks(comm, y_part);

    constexpr Row dy{1, 0};  // the loss is y's first element
    const double dg = dy[0] * b_row[0] + dy[1] * b_row[1];
    const double dz = 2 * z * dg;
    const Row dx_part{dz * a_column[0], dz * a_column[1]};
    const Row dx = sum_over_ranks(comm, dx_part);
    // END passes
    say(comm, z, g, y_part, y, dz, dx_part, dx);
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        Device device({.rank = session.rank(), .topology = {.devices_per_node = 2}});
        Comm world = Comm::world(device);
        pass_through(world);
        return 0;
    });
}
