#include "tests/03_collectives/node_aware.hpp"

#include <algorithm>
#include <bit>

#include "tests/03_collectives/sums.hpp"

namespace collectives_test {

namespace {

constexpr const char* order =
    "add in the order of the ring reduce-scatter inside the node, then in that of the ring all-reduce across "
    "nodes, each sum rounded to the dtype";

/// The rank of the group that a rank of the world is.
int rank_in(const Group& group, int world_rank)
{
    return static_cast<int>(std::find(group.begin(), group.end(), world_rank) - group.begin());
}

std::vector<std::byte> node_aware_sum(const Run& run, const Group& group, const std::vector<Group>& nodes)
{
    const RankValues values = run.values_before(group);
    RankValues node_sums;
    for (const Group& node : nodes) {
        RankValues of_node;
        for (const int rank : node) of_node.push_back(values[static_cast<std::size_t>(rank_in(group, rank))]);
        node_sums.push_back(ring_sum(of_node, run.n, run.dtype));
    }
    std::vector<std::byte> sum(values.front().size());
    const auto m = static_cast<int>(nodes.front().size());
    for (int place = 0; place < m; ++place) {
        const Chunk chunk = chunk_of(run.n, m, place);
        RankValues shards;
        for (std::vector<std::byte>& node_sum : node_sums) {
            const Buffer shard = part_of(node_sum, chunk, run.dtype);
            shards.emplace_back(shard.data, shard.data + shard.bytes());
        }
        const std::vector<std::byte> shard_sum = ring_sum(shards, chunk.count, run.dtype);
        std::copy(shard_sum.begin(), shard_sum.end(), part_of(sum, chunk, run.dtype).data);
    }
    return sum;
}

/// A reduce-scatter and an all-gather of n elements, by rank `own` of a ring, to its right neighbour.
void promise_ring(const Group& group, const Group& ring, int own, std::int64_t n, Promise& promise)
{
    const auto p = static_cast<int>(ring.size());
    if (p == 1) return;
    const int right = (own + 1) % p;
    promise.sent[rank_in(group, ring[static_cast<std::size_t>(right)])] = {
        2 * static_cast<std::uint64_t>(p - 1),
        2 * n - chunk_of(n, p, own).count - chunk_of(n, p, right).count, n < p};
}

}  // namespace

std::vector<Group> nodes_of(const Topology& topology, const Group& group)
{
    std::map<int, Group> by_node;
    for (const int rank : group) by_node[topology.node_of(rank)].push_back(rank);
    std::vector<Group> nodes;
    bool even = true;
    for (const auto& [node, ranks] : by_node) {
        nodes.push_back(ranks);
        even = even && ranks.size() == nodes.front().size();
    }
    if (even) return nodes;
    nodes.clear();
    for (const int rank : group) nodes.push_back({rank});
    return nodes;
}

Placement placement_of(const Topology& topology, const Group& group)
{
    const std::vector<Group> nodes = nodes_of(topology, group);
    return {static_cast<int>(nodes.front().size()), static_cast<int>(nodes.size())};
}

GroupPromise node_aware_promise(const Run& run, const Group& group)
{
    const std::vector<Group> nodes = nodes_of(run.topology, group);
    const auto m = static_cast<int>(nodes.front().size());
    const auto count = static_cast<int>(nodes.size());
    const std::int64_t longest = m > 1 ? chunk_of(run.n, m, 0).count : chunk_of(run.n, count, 0).count;
    const std::vector<std::byte> sum = node_aware_sum(run, group, nodes);
    GroupPromise promise{std::vector<Promise>(group.size()), {}, order};
    for (int node = 0; node < count; ++node)
        for (int place = 0; place < m; ++place) {
            const Group& own_node = nodes[static_cast<std::size_t>(node)];
            const int rank = rank_in(group, own_node[static_cast<std::size_t>(place)]);
            Promise& own = promise.ranks[static_cast<std::size_t>(rank)];
            own = {sum, {0, run.n}, {}, group.size() == 1 ? 0 : longest};
            Group across;
            for (const Group& other : nodes) across.push_back(other[static_cast<std::size_t>(place)]);
            promise_ring(group, own_node, place, run.n, own);
            promise_ring(group, across, node, chunk_of(run.n, m, place).count, own);
        }
    const auto bytes = static_cast<double>(run.n) * static_cast<double>(size_of(run.dtype));
    if (run.n % (m * count) == 0 && run.repeat == 1)
        promise.duration = {expected_seconds(AllReduce::node_aware, run.topology, {m, count}, bytes),
                            2 * (m - 1) + 2 * (count - 1)};
    if (m > 1 || count == 1) promise.between_nodes = 2 * (count - 1) * run.n;
    return promise;
}

double expected_seconds(AllReduce algorithm, const Topology& topology, Placement placement, double bytes)
{
    const int m = placement.ranks_per_node;
    const int p = m * placement.nodes;
    const Link& outer = placement.nodes > 1 ? topology.inter : topology.intra;
    if (algorithm == AllReduce::ring) return 2.0 * (p - 1) * outer.seconds(bytes / p);
    if (algorithm == AllReduce::node_aware)
        return 2.0 * (m - 1) * topology.intra.seconds(bytes / m) +
               2.0 * (placement.nodes - 1) * topology.inter.seconds(bytes / p);
    const auto ranks = static_cast<unsigned>(p);
    const int rounds = std::bit_width(ranks) - 1;
    const auto node_ranks = static_cast<unsigned>(m);
    const int inside = std::has_single_bit(node_ranks) ? std::bit_width(node_ranks) - 1 : 0;
    const int outside = rounds - inside + (std::has_single_bit(ranks) ? 0 : 2);
    return inside * topology.intra.seconds(bytes) + outside * outer.seconds(bytes);
}

}  // namespace collectives_test
