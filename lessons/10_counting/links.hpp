// 10.6 Given: which links the groups of a job send over.
#pragma once

#include <bit>

#include "lessons/10_counting/job.hpp"
#include "lib/machine/device/topology.hpp"

namespace counting {

/// The slowest link between neighbours in the groups of `count` ranks that are `stride` apart; they lie in
/// blocks of stride · count ranks, one behind the other.
inline const Link& link_of_groups(const Job& job, const Topology& topology, int stride, int count)
{
    const int devices = topology.devices_per_node;
    const bool in_nodes = job.layout.world_size() <= devices || devices % (stride * count) == 0;
    return in_nodes ? topology.intra : topology.inter;
}
inline const Link& tensor_link(const Job& job, const Topology& topology)
{
    return link_of_groups(job, topology, 1, job.layout.tp);
}
inline const Link& data_link(const Job& job, const Topology& topology)
{
    return link_of_groups(job, topology, job.layout.tp, job.layout.dp);
}
inline const Link& pipeline_link(const Job& job, const Topology& topology)
{
    return link_of_groups(job, topology, job.layout.tp * job.layout.dp, job.layout.pp);
}

/// Seconds of a few numbers summed over all devices by recursive doubling (lesson 03.5): in round i the ranks
/// 2^i apart exchange them; where p is no power of two, the ranks too many hand over theirs and get the sum.
inline double doubling_seconds(const Topology& topology, int ranks, double bytes)
{
    const int q = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
    double seconds = ranks > q ? 2.0 * topology.link(0, q).seconds(bytes) : 0.0;
    for (int bit = 1; bit < q; bit *= 2) seconds += topology.link(0, bit).seconds(bytes);
    return seconds;
}

}  // namespace counting
