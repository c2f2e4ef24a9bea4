// Runs of the page's programs on some of the ranks, and what is brought together from them.
#pragma once

#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "lessons/04_data_parallel/run.hpp"
#include "lib/machine/comm/session.hpp"
#include "lib/tools/trace/collect.hpp"

namespace lesson {

/// Calls `body` on the first pp · dp ranks with a communicator of theirs, on a new device for `options`.
inline void on_grid(MpiSession& session, const TrainOptions& options, const std::function<void(Comm&)>& body)
{
    Device device(device_options(options, session.rank()));
    const Comm world = Comm::world(device);
    const bool takes_part = session.rank() < options.layout.world_size();
    Comm grid = world.split(takes_part ? 0 : 1, session.rank());
    if (takes_part) body(grid);
}

/// The numbers of every rank, by rank, on rank 0, and nothing on the others.
inline std::vector<std::vector<double>> gather_numbers(Comm& comm, const std::vector<double>& own)
{
    std::vector<std::vector<double>> all;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(own.data());
    for (const auto& received : gather_bytes(comm, std::span(bytes, own.size() * sizeof(double)))) {
        std::vector<double>& numbers = all.emplace_back(received.size() / sizeof(double));
        std::memcpy(numbers.data(), received.data(), received.size());
    }
    return all;
}

/// 8 blocks, h = 64, 32 tokens, 16 sequences, fp32; every device is a node of its own and does 0.5 TFLOP/s.
inline TrainOptions pipeline_run(int stages)
{
    TrainOptions options = small_run(1);
    options.shape.layers = 8;
    options.layout.pp = stages;
    options.layout.schedule = "naive";
    return options;
}

/// Messages that take no time.
inline Topology free_links(Topology topology)
{
    const Link link{0.0, std::numeric_limits<double>::infinity()};
    topology.intra = link;
    topology.inter = link;
    return topology;
}

}  // namespace lesson
