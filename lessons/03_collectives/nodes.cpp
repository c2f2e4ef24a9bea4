// A ring over all devices of a cluster beside the node-aware all-reduce, 6 MB.  nodes 2x4
#include <fmt/core.h>

#include "lessons/03_collectives/measure.hpp"
#include "lessons/03_collectives/node_aware.hpp"
#include "lessons/03_collectives/ring.hpp"

using namespace collectives;

namespace {

constexpr std::int64_t elements = 1'500'000;
constexpr double bytes = 4.0 * elements;

int compare(const MpiSession& session, const Topology& topology)
{
    const int p = topology.devices();
    const double nodes = topology.nodes;
    check(session.size() == p, "expected as many ranks as devices, {}, not {}", p, session.size());
    const Placement placement{topology.devices_per_node, topology.nodes};
    const auto report = [&](const char* name, AllReduce algorithm, double between, auto all_reduce) {
        const Cost cost = measure(session, topology, p, elements, sum_of_ranks(p), all_reduce);
        if (session.rank() == 0)
            fmt::print("{:<12}{:>11.1f} us{:>11.1f} us{:>17.1f} MB{:>11.1f} MB\n", name, 1e6 * cost.seconds,
                       1e6 * all_reduce_seconds(algorithm, topology, placement, bytes),
                       1e-6 * cost.between_nodes, 1e-6 * between);
    };
    if (session.rank() == 0)
        fmt::print("{:<12}{:>14}{:>14}{:>20}{:>14}\n",
                   fmt::format("{}x{}", topology.nodes, p / topology.nodes), "time", "formula",
                   "between nodes", "formula");
    report("flat ring", AllReduce::ring, 2 * (p - 1) * nodes * bytes / p, ring_all_reduce);
    report("node-aware", AllReduce::node_aware, 2 * (nodes - 1) * bytes, [](Comm& comm, Buffer values) {
        NodeGroups groups = make_node_groups(comm);
        node_aware_all_reduce(groups, values);
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [&](MpiSession& session) {
        check(argc == 2, "usage: {} NODESxDEVICES", argv[0]);
        return compare(session, parse_topology(argv[1]));
    });
}
