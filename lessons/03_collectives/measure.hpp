// What a collective costs on the simulated devices, for this lesson's programs.
#pragma once

#include <algorithm>
#include <array>
#include <functional>

#include "lib/machine/comm/comm.hpp"
#include "lib/machine/comm/session.hpp"
#include "lib/machine/tensor/tensor.hpp"

namespace collectives {

using namespace shardlings;

struct Cost {
    double seconds = 0.0;        // virtual time of the slowest rank
    double bytes = 0.0;          // sent by all ranks together
    double busiest = 0.0;        // sent by the rank that sends most
    double between_nodes = 0.0;  // those of `bytes` that left a node
};

/// Runs `collective` on the first `ranks` ranks of the job, with clocks at 0. Each fills n fp32 elements with
/// its rank + 1, and all must be `expected` after it, else Error. Every rank of the job must call it; the
/// result is there on rank 0.
inline Cost measure(const MpiSession& session, const Topology& topology, int ranks, std::int64_t n,
                    float expected, const std::function<void(Comm&, Buffer)>& collective)
{
    DeviceOptions options;
    options.rank = session.rank();
    options.topology = topology;
    Device device(options);
    Comm world = Comm::world(device);
    const bool plays = session.rank() < ranks;
    Comm comm = world.split(plays ? 0 : 1, session.rank());
    if (!plays) return {};

    Tensor values(device, {n}, DType::fp32, Category::gradients);
    std::ranges::fill(values.span<float>(), static_cast<float>(session.rank() + 1));
    collective(comm, values.buffer());
    for (const float value : values.span<float>())
        check(value == expected, "rank {} holds {} where {} was expected", session.rank(), value, expected);

    const Traffic& sent = device.traffic();
    std::array<double, 3> numbers{device.clock().now(), static_cast<double>(sent.total.bytes),
                                  static_cast<double>(sent.inter_node.bytes)};
    if (session.rank() != 0) {
        comm.send(buffer_of(std::span<const double>(numbers)), 0);
        return {};
    }
    Cost cost{numbers[0], numbers[1], numbers[1], numbers[2]};
    for (int rank = 1; rank < comm.size(); ++rank) {
        comm.recv(buffer_of(std::span<double>(numbers)), rank);
        cost.seconds = std::max(cost.seconds, numbers[0]);
        cost.bytes += numbers[1];
        cost.busiest = std::max(cost.busiest, numbers[1]);
        cost.between_nodes += numbers[2];
    }
    return cost;
}

/// The sum of 1, 2, …, p: what an all-reduce of `measure` must give.
inline float sum_of_ranks(int p)
{
    return static_cast<float>(p * (p + 1) / 2);
}

}  // namespace collectives
