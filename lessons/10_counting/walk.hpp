// 10.7 Given: a pipeline's passes gone through one after the other.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "lessons/07_gpipe/check.hpp"

namespace counting {

/// Seconds of the passes of one micro-batch through a chunk.
struct ChunkSeconds {
    double forward = 0.0;
    double backward = 0.0;
};
/// Of every chunk of every stage: [stage][chunk].
using StageSeconds = std::vector<std::vector<ChunkSeconds>>;

/// When each instruction of each stage begins and ends: lesson 07.5's simulation with passes of different
/// length. A message takes `message` seconds of its sender's link, which carries one after the other.
inline std::vector<std::vector<pipeline::Span>> walk(const pipeline::Schedule& schedule,
                                                     const StageSeconds& seconds, double message)
{
    using pipeline::Action;
    const auto stages = static_cast<std::size_t>(schedule.stages);
    const auto micro_batches = static_cast<std::size_t>(schedule.micro_batches);
    const std::size_t chunks = stages * static_cast<std::size_t>(schedule.chunks);
    constexpr double never = std::numeric_limits<double>::infinity();
    std::vector<double> arrivals(2 * micro_batches * (chunks + 1), never);
    std::vector<double> now(stages), link_free(stages);
    std::vector<std::vector<pipeline::Span>> spans(stages);
    // What crosses the boundary in front of a chunk of the model: activations, or gradients.
    const auto arrival = [&](bool activation, int micro_batch, std::size_t boundary) -> double& {
        return arrivals[(boundary * micro_batches + static_cast<std::size_t>(micro_batch)) * 2 +
                        (activation ? 1 : 0)];
    };
    const auto step = [&](std::size_t s) {
        const pipeline::Instruction& i = schedule.programs[s][spans[s].size()];
        const std::size_t chunk = static_cast<std::size_t>(i.chunk) * stages + s;
        const double begin = now[s];
        const ChunkSeconds& pass = seconds[s][static_cast<std::size_t>(i.chunk)];
        const bool activation = i.action == Action::receive_activation || i.action == Action::send_activation;
        const bool receives = i.action == Action::receive_activation || i.action == Action::receive_gradient;
        if (i.action == Action::forward || i.action == Action::backward) {
            now[s] += i.action == Action::forward ? pass.forward : pass.backward;
        } else if (receives) {
            const double arrived = arrival(activation, i.micro_batch, activation ? chunk : chunk + 1);
            if (arrived == never) return false;
            now[s] = std::max(now[s], arrived);
        } else {
            link_free[s] = std::max(now[s], link_free[s]) + message;
            arrival(activation, i.micro_batch, activation ? chunk + 1 : chunk) = link_free[s];
        }
        spans[s].push_back({begin, now[s]});
        return true;
    };
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t s = 0; s < stages; ++s)
            while (spans[s].size() < schedule.programs[s].size() && step(s)) moved = true;
    }
    return spans;
}

/// When the last stage to do so ends its program.
inline double end_of(const std::vector<std::vector<pipeline::Span>>& spans)
{
    double end = 0.0;
    for (const auto& stage : spans) end = std::max(end, stage.back().end);
    return end;
}

}  // namespace counting
