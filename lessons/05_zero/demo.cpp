// A step of ZeRO by hand: 7 weights and 1 of padding on 4 ranks, 2 of them each. Rank r's gradient of weight
// i is 10^r (i + 1).
#include <cmath>
#include <string>

#include "lessons/03_collectives/ring.hpp"
#include "lib/machine/comm/session.hpp"
#include "lib/machine/tensor/tensor.hpp"
#include "lib/tools/trace/collect.hpp"

using namespace shardlings;

namespace {

/// Prints what every rank says, in order.
void show(Comm& comm, const std::string& title, const Tensor& tensor)
{
    std::string line;
    for (const double value : to_doubles(tensor)) line += fmt::format("{:>8g}", value);
    const auto lines =
        gather_bytes(comm, std::span(reinterpret_cast<const std::uint8_t*>(line.data()), line.size()));
    for (std::size_t rank = 0; rank < lines.size(); ++rank)
        fmt::print("{:<24}rank {}{}\n", rank == 0 ? title : "", rank,
                   std::string(lines[rank].begin(), lines[rank].end()));
}

void step(Comm& comm)
{
    Device& device = comm.device();
    const collectives::Chunk own{2 * comm.rank(), 2};
    Tensor weights(device, {8}, DType::fp32, Category::parameters);
    Tensor gradients(device, {8}, DType::fp32, Category::gradients);
    from_doubles(std::vector{10., 20., 30., 40., 50., 60., 70., 0.}, weights);
    std::vector<double> g;
    for (int i = 0; i < 7; ++i) g.push_back(std::pow(10.0, comm.rank()) * (i + 1));
    g.push_back(0.0);
    from_doubles(g, gradients);
    show(comm, "gradients", gradients);

    // BEGIN step
    collectives::ring_reduce_scatter(comm, gradients.buffer());  // the own chunk is the sum, the rest is not
    Tensor w = weights.view(own.offset, {own.count});
    const Tensor sum = gradients.view(own.offset, {own.count});
    show(comm, "own chunk of the sum", sum);
    for (int i = 0; i < 2; ++i)  // the optimizer, on 2 of 8
        w.span<float>()[i] -= 0.001F * sum.span<float>()[i];
    show(comm, "updated", weights);
    collectives::ring_all_gather(comm, weights.buffer());
    // END step
    show(comm, "gathered", weights);
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        Device device({.rank = session.rank(), .topology = {.nodes = 4}});
        Comm world = Comm::world(device);
        step(world);
        return 0;
    });
}
