// A pipeline of three stages with one weight each, y = 5 (3 (2 x)), forward and backward by hand. A stage's
// forward pass takes 1 s, its backward pass 2 s.
#include <array>

#include "lessons/06_pipeline/run.hpp"

using namespace lesson;

namespace {

void say(Comm& comm, double x, double y, double dy, double dw, double dx)
{
    const double end = comm.device().clock().now();
    const auto rows = gather_numbers(comm, {x, y, dy, dw, dx, end});
    for (std::size_t s = 0; s < rows.size(); ++s)
        fmt::print("stage {}: x = {}, y = {:<2}   dy = {:<2}  dw = {:<2}  dx = {:<2}   done after {} s\n", s,
                   rows[s][0], rows[s][1], rows[s][2], rows[s][3], rows[s][4], rows[s][5]);
}

void pass_through(Comm& comm)
{
    constexpr std::array<double, 3> weights{2.0, 3.0, 5.0};
    Device& device = comm.device();
    const int stage = comm.rank();
    const bool first = stage == 0;
    const bool last = stage == comm.size() - 1;
    // BEGIN stages
    const double w = weights.at(static_cast<std::size_t>(stage));
    double x = 1.0;  // the model's input
    if (!first) comm.recv(buffer_of(std::span(&x, 1)), stage - 1);
    const double y = w * x;
    device.compute(1.0);
    if (!last) comm.send(buffer_of(std::span(&y, 1)), stage + 1);

    double dy = 1.0;  // d(model's output) / d(itself)
    if (!last) comm.recv(buffer_of(std::span(&dy, 1)), stage + 1);
    const double dw = dy * x;  // x was kept since the forward pass
    const double dx = dy * w;
    device.compute(2.0);
    if (!first) comm.send(buffer_of(std::span(&dx, 1)), stage - 1);
    // END stages
    say(comm, x, y, dy, dw, dx);
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        Device device({.rank = session.rank(), .topology = free_links({.nodes = 3, .flops = 1.0})});
        Comm world = Comm::world(device);
        pass_through(world);
        return 0;
    });
}
