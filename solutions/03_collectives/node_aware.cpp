#include <bit>
#include <map>

#include "lessons/03_collectives/node_aware.hpp"
#include "lessons/03_collectives/recursive_doubling.hpp"
#include "lessons/03_collectives/ring.hpp"

using namespace collectives;

NodeGroups collectives::make_node_groups(const Comm& comm)
{
    // BEGIN SOLUTION 03.6 make_node_groups
    const Topology& topology = comm.device().topology();
    const auto node_of = [&](int rank) { return topology.node_of(comm.world_rank(rank)); };
    const int own = node_of(comm.rank());
    std::map<int, int> ranks_on;  // of each node
    int place = 0;                // how many ranks of the own node come before this one
    for (int rank = 0; rank < comm.size(); ++rank) {
        ++ranks_on[node_of(rank)];
        if (rank < comm.rank() && node_of(rank) == own) ++place;
    }
    for (const auto& [node, ranks] : ranks_on)
        if (ranks != ranks_on[own]) return {comm.split(comm.rank(), 0), comm.split(0, comm.rank())};
    return {comm.split(own, comm.rank()), comm.split(place, own)};
    // END SOLUTION
}

void collectives::node_aware_all_reduce(NodeGroups& groups, Buffer values)
{
    // BEGIN SOLUTION 03.6 node_aware_all_reduce
    const Chunk own = chunk_of(values.count, groups.node.size(), groups.node.rank());
    ring_reduce_scatter(groups.node, values);
    ring_all_reduce(groups.across, values.part(own.offset, own.count));
    ring_all_gather(groups.node, values);
    // END SOLUTION
}

double collectives::all_reduce_seconds(AllReduce algorithm, const Topology& topology, Placement placement,
                                       double bytes)
{
    check(placement.ranks_per_node >= 1 && placement.nodes >= 1,
          "{} ranks on each of {} nodes: expected at least 1 of both", placement.ranks_per_node,
          placement.nodes);
    // BEGIN SOLUTION 03.6 all_reduce_seconds
    const int m = placement.ranks_per_node;
    const int nodes = placement.nodes;
    const int p = m * nodes;
    const Link& slowest = nodes > 1 ? topology.inter : topology.intra;
    switch (algorithm) {
        case AllReduce::ring:
            return 2 * (p - 1) * slowest.seconds(bytes / p);
        case AllReduce::node_aware:
            return 2 * (m - 1) * topology.intra.seconds(bytes / m) +
                   2 * (nodes - 1) * topology.inter.seconds(bytes / p);
        case AllReduce::recursive_doubling:
            break;
    }
    const bool rounds_inside = std::has_single_bit(static_cast<unsigned>(m));
    double seconds = std::has_single_bit(static_cast<unsigned>(p)) ? 0.0 : 2 * slowest.seconds(bytes);
    for (int bit = 1; 2 * bit <= p; bit *= 2)
        seconds += (rounds_inside && bit < m ? topology.intra : slowest).seconds(bytes);
    return seconds;
    // END SOLUTION
}

AllReduce collectives::choose_all_reduce(const Topology& topology, Placement placement, double bytes)
{
    // BEGIN SOLUTION 03.6 choose_all_reduce
    AllReduce best = AllReduce::recursive_doubling;
    for (const AllReduce other : {AllReduce::ring, AllReduce::node_aware})
        if (all_reduce_seconds(other, topology, placement, bytes) <
            all_reduce_seconds(best, topology, placement, bytes))
            best = other;
    return best;
    // END SOLUTION
}

void collectives::all_reduce(Comm& comm, NodeGroups& groups, Buffer values)
{
    // BEGIN SOLUTION 03.6 all_reduce
    const Placement placement{groups.node.size(), groups.across.size()};
    const auto bytes = static_cast<double>(values.bytes());
    switch (choose_all_reduce(comm.device().topology(), placement, bytes)) {
        case AllReduce::recursive_doubling:
            return recursive_doubling_all_reduce(comm, values);
        case AllReduce::ring:
            return ring_all_reduce(comm, values);
        case AllReduce::node_aware:
            return node_aware_all_reduce(groups, values);
    }
    // END SOLUTION
}
