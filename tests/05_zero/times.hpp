// Virtual time of a group's collectives, step by step as the links carry them.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "lib/machine/device/topology.hpp"

namespace zero_test {

using shardlings::Link;

/// One a rank of the group.
using Clocks = std::vector<double>;

/// p − 1 steps in which every rank sends `bytes` to its right neighbour and receives as many.
inline void ring(Clocks& clocks, const Link& link, double bytes)
{
    const std::size_t p = clocks.size();
    for (std::size_t step = 0; step + 1 < p; ++step) {
        const Clocks before = clocks;
        for (std::size_t r = 0; r < p; ++r)
            clocks[r] = std::max(before[r], before[(r + p - 1) % p]) + link.seconds(bytes);
    }
}

/// A binomial tree: in round k the 2^k ranks that have the values send them on.
inline void tree(Clocks& clocks, const Link& link, double bytes, std::size_t root)
{
    const std::size_t p = clocks.size();
    for (std::size_t have = 1; have < p; have *= 2)
        for (std::size_t d = 0; d < have && d + have < p; ++d) {
            double& sender = clocks[(root + d) % p];
            double& receiver = clocks[(root + d + have) % p];
            sender += link.seconds(bytes);
            receiver = std::max(receiver, sender);
        }
}

/// Messages that rank `rank` sends in the tree from `root`.
inline std::uint64_t tree_messages(std::size_t p, std::size_t rank, std::size_t root)
{
    const std::size_t distance = (rank + p - root) % p;
    std::uint64_t count = 0;
    for (std::size_t have = 1; have < p; have *= 2)
        if (distance < have && distance + have < p) ++count;
    return count;
}

/// The compute and communication streams of the group's devices.
struct Streams {
    explicit Streams(int degree)
        : compute(static_cast<std::size_t>(degree)), communication(static_cast<std::size_t>(degree))
    {
    }

    Clocks compute;
    Clocks communication;

    /// A collective that begins now, beside the compute stream or (without overlap) in it; when it is done.
    Clocks run(bool overlap, const std::function<void(Clocks&)>& collective)
    {
        Clocks& stream = overlap ? communication : compute;
        for (std::size_t r = 0; r < stream.size(); ++r) stream[r] = std::max(stream[r], compute[r]);
        collective(stream);
        return stream;
    }

    void wait(const Clocks& done)
    {
        for (std::size_t r = 0; r < compute.size(); ++r) compute[r] = std::max(compute[r], done[r]);
    }
};

}  // namespace zero_test
