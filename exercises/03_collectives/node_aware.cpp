#include <bit>
#include <map>

#include "lessons/03_collectives/node_aware.hpp"
#include "lessons/03_collectives/recursive_doubling.hpp"
#include "lessons/03_collectives/ring.hpp"
#include "lib/machine/base/error.hpp"

using namespace collectives;

NodeGroups collectives::make_node_groups(const Comm& comm)
{
    // Your code: see lessons/03_collectives/node_aware.hpp (hints: make hint-03 PART=03.6)
    not_implemented("03.6 make_node_groups");
}

void collectives::node_aware_all_reduce(NodeGroups& groups, Buffer values)
{
    // Your code: see lessons/03_collectives/node_aware.hpp (hints: make hint-03 PART=03.6)
    not_implemented("03.6 node_aware_all_reduce");
}

double collectives::all_reduce_seconds(AllReduce algorithm, const Topology& topology, Placement placement,
                                       double bytes)
{
    check(placement.ranks_per_node >= 1 && placement.nodes >= 1,
          "{} ranks on each of {} nodes: expected at least 1 of both", placement.ranks_per_node,
          placement.nodes);
    // Your code: see lessons/03_collectives/node_aware.hpp (hints: make hint-03 PART=03.6)
    not_implemented("03.6 all_reduce_seconds");
}

AllReduce collectives::choose_all_reduce(const Topology& topology, Placement placement, double bytes)
{
    // Your code: see lessons/03_collectives/node_aware.hpp (hints: make hint-03 PART=03.6)
    not_implemented("03.6 choose_all_reduce");
}

void collectives::all_reduce(Comm& comm, NodeGroups& groups, Buffer values)
{
    // Your code: see lessons/03_collectives/node_aware.hpp (hints: make hint-03 PART=03.6)
    not_implemented("03.6 all_reduce");
}
