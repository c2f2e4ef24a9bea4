// 03.6 All-reduce on nodes with fast links inside and slow ones between, and which all-reduce to take.
#pragma once

#include "lib/machine/comm/comm.hpp"

namespace collectives {

using namespace shardlings;

/// The two groups of a rank: `node`, the ranks of its node, in order, and `across`, the ranks at its place in
/// every node, in the order of the nodes.
struct NodeGroups {
    Comm node;
    Comm across;
};

/// Every rank of `comm` must call it. When the nodes do not hold equally many ranks of `comm`, each rank
/// counts as a node of its own: `node` is the rank alone and `across` is all of `comm`.
NodeGroups make_node_groups(const Comm& comm);

/// partial sums -> their sum over all ranks of both groups, bitwise the same everywhere: ring reduce-scatter
/// in the node, ring all-reduce of the rank's chunk across nodes, ring all-gather in the node. m ranks a
/// node, N nodes: 2(m − 1)(α + β n/m) on the links inside + 2(N − 1)(α' + β' n/(m N)) on those between, when
/// m N divides n. Between nodes 2(N − 1) n elements are sent in all; a flat ring of p = m N ranks sends 2(p −
/// 1) n N/p.
void node_aware_all_reduce(NodeGroups& groups, Buffer values);

enum class AllReduce { recursive_doubling, ring, node_aware };

/// The places of a group's ranks: m on each of N nodes.
struct Placement {
    int ranks_per_node;
    int nodes;
};

/// What each takes in virtual time for n = `bytes` / size elements, as the declarations above and of ring.hpp
/// say (with m N | n). For the ring and recursive doubling on several nodes, a step is as slow as its slowest
/// message; ranks are numbered node by node. Recursive doubling's rounds below m stay inside the node when m
/// is a power of two; otherwise every step counts as one between nodes. Error for a placement without ranks.
double all_reduce_seconds(AllReduce algorithm, const Topology& topology, Placement placement, double bytes);

/// The fastest by all_reduce_seconds; of equals the first in the order of the enum.
AllReduce choose_all_reduce(const Topology& topology, Placement placement, double bytes);

/// partial sums -> their sum, by the algorithm chosen for the size of `values`. `groups` are those of `comm`.
void all_reduce(Comm& comm, NodeGroups& groups, Buffer values);

}  // namespace collectives
