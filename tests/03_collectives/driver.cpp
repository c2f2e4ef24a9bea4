// Runs one case of lesson 03 on the code it is linked with. Inputs and outputs are named as in the lesson's
// headers.
#include "lib/tools/grade/driver.hpp"

#include <functional>

#include "lessons/03_collectives/broadcast.hpp"
#include "lessons/03_collectives/node_aware.hpp"
#include "lessons/03_collectives/recursive_doubling.hpp"
#include "lessons/03_collectives/ring.hpp"
#include "tests/03_collectives/pattern.hpp"

using namespace grade;

namespace {

/// The collective under test, ready to be called.
using Collective = std::function<void(Buffer)>;

Collective collective_on(Case& c, Comm& group)
{
    const std::string function = c.text("function");
    const int root = static_cast<int>(c.integer("root"));
    const int segments = static_cast<int>(c.integer("segments"));
    if (function == "ring_reduce_scatter")
        return [&](Buffer values) { collectives::ring_reduce_scatter(group, values); };
    if (function == "ring_all_gather")
        return [&](Buffer values) { collectives::ring_all_gather(group, values); };
    if (function == "ring_all_reduce")
        return [&](Buffer values) { collectives::ring_all_reduce(group, values); };
    if (function == "tree_broadcast")
        return [&, root](Buffer values) { collectives::tree_broadcast(group, values, root); };
    if (function == "chain_broadcast")
        return [&, root, segments](Buffer values) {
            collectives::chain_broadcast(group, values, root, segments);
        };
    if (function == "recursive_doubling_all_reduce")
        return [&](Buffer values) { collectives::recursive_doubling_all_reduce(group, values); };
    const auto groups = std::make_shared<collectives::NodeGroups>(collectives::make_node_groups(group));
    if (function == "node_aware_all_reduce")
        return [groups](Buffer values) { collectives::node_aware_all_reduce(*groups, values); };
    check(function == "all_reduce", "there is no function '{}'", function);
    return [&group, groups](Buffer values) { collectives::all_reduce(group, *groups, values); };
}

/// Calls the function in a group of ranks, or in several groups one after the other, `repeat` times on the
/// same values, which lie in the middle of a larger buffer.
void collective(Case& c)
{
    const std::vector<double> colors = c.numbers("colors");
    const std::vector<double> keys = c.numbers("keys");
    std::vector<Comm> groups;
    for (std::size_t i = 0; i < colors.size(); ++i)
        groups.push_back(c.comm().split(static_cast<int>(colors[i]), static_cast<int>(keys[i])));
    if (!c.flag("takes_part")) return;
    std::vector<Collective> calls;
    for (Comm& group : groups) calls.push_back(collective_on(c, group));

    const std::int64_t n = c.integer("n");
    const std::int64_t pad = c.integer("pad");
    const collectives_test::Pattern pattern{c.number("base"), static_cast<std::uint64_t>(c.integer("seed"))};
    Tensor whole(c.device(), {n + 2 * pad}, parse_dtype(c.text("dtype")), Category::gradients);
    const Buffer values = whole.buffer().part(pad, n);
    collectives_test::fill({1.0, 0}, 0, whole.buffer());
    c.device().clock().advance(c.number("start"));
    c.start_measuring();
    for (std::int64_t i = 0; i < c.integer("repeat"); ++i) {
        collectives_test::fill(pattern, static_cast<int>(c.integer("member")), values);
        for (const Collective& call : calls) call(values);
    }
    c.stop_measuring();
    c.put("clock", c.device().clock().now());
    c.put_bytes("values", std::as_const(whole).buffer());
}

/// Puts the message of the error that the function ends with.
void refused(Case& c)
{
    const Collective call = collective_on(c, c.comm());
    Tensor values(c.device(), {4}, DType::fp32, Category::gradients);
    collectives_test::fill({}, c.comm().rank(), values.buffer());
    try {
        call(values.buffer());
    } catch (const NotImplemented&) {
        throw;
    } catch (const Error& error) {
        c.put("refusal", std::string(error.what()));
    }
}

void chunk_of(Case& c)
{
    const int parts = static_cast<int>(c.integer("parts"));
    std::vector<double> offsets, counts;
    for (int index = 0; index < parts; ++index) {
        const collectives::Chunk chunk = collectives::chunk_of(c.integer("n"), parts, index);
        offsets.push_back(static_cast<double>(chunk.offset));
        counts.push_back(static_cast<double>(chunk.count));
    }
    c.put("offsets", offsets);
    c.put("counts", counts);
}

void best_segments(Case& c)
{
    const Link link{c.number("latency"), c.number("bandwidth")};
    c.put("segments", static_cast<double>(collectives::best_segments(
                          link, static_cast<int>(c.integer("ranks")), c.number("bytes"))));
}

std::vector<double> world_ranks(const Comm& comm)
{
    std::vector<double> ranks;
    for (int rank = 0; rank < comm.size(); ++rank) ranks.push_back(comm.world_rank(rank));
    return ranks;
}

void make_node_groups(Case& c)
{
    const Comm group =
        c.comm().split(static_cast<int>(c.integer("color")), static_cast<int>(c.integer("key")));
    if (!c.flag("takes_part")) return;
    c.start_measuring();
    const collectives::NodeGroups groups = collectives::make_node_groups(group);
    c.stop_measuring();
    c.put("node", world_ranks(groups.node));
    c.put("across", world_ranks(groups.across));
}

collectives::Placement placement_of(Case& c)
{
    return {static_cast<int>(c.integer("ranks_per_node")), static_cast<int>(c.integer("nodes"))};
}

/// On the topology of the case.
void all_reduce_seconds(Case& c)
{
    const auto algorithm = static_cast<collectives::AllReduce>(c.integer("algorithm"));
    c.put("seconds", collectives::all_reduce_seconds(algorithm, c.device().topology(), placement_of(c),
                                                     c.number("bytes")));
}

void choose_all_reduce(Case& c)
{
    c.put("algorithm", static_cast<double>(collectives::choose_all_reduce(
                           c.device().topology(), placement_of(c), c.number("bytes"))));
}

}  // namespace

int main(int argc, char** argv)
{
    return run_driver(argc, argv,
                      {{"collective", collective},
                       {"refused", refused},
                       {"chunk_of", chunk_of},
                       {"best_segments", best_segments},
                       {"make_node_groups", make_node_groups},
                       {"all_reduce_seconds", all_reduce_seconds},
                       {"choose_all_reduce", choose_all_reduce}});
}
