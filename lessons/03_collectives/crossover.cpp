// Which all-reduce for which size: every algorithm measured on 8 devices, in one node and on two.
#include <fmt/core.h>

#include <string_view>

#include "lessons/03_collectives/measure.hpp"
#include "lessons/03_collectives/node_aware.hpp"
#include "lessons/03_collectives/recursive_doubling.hpp"
#include "lessons/03_collectives/ring.hpp"

using namespace collectives;

namespace {

std::string_view name_of(AllReduce algorithm)
{
    switch (algorithm) {
        case AllReduce::recursive_doubling:
            return "recursive doubling";
        case AllReduce::ring:
            return "ring";
        case AllReduce::node_aware:
            return "node-aware";
    }
    return "";
}

void node_aware(Comm& comm, Buffer values)
{
    NodeGroups groups = make_node_groups(comm);
    node_aware_all_reduce(groups, values);
}

/// The largest whole number of bytes, up to 1 GB, for which recursive doubling is chosen.
double last_of_recursive_doubling(const Topology& topology, Placement placement)
{
    double below = 0.0;
    double above = 1e9;
    while (above - below > 0.5) {
        const double middle = (below + above) / 2;
        const bool chosen = choose_all_reduce(topology, placement, middle) == AllReduce::recursive_doubling;
        (chosen ? below : above) = middle;
    }
    return below;
}

void compare(const MpiSession& session, std::string_view shape)
{
    const Topology topology = parse_topology(shape);
    const Placement placement{topology.devices_per_node, topology.nodes};
    const bool prints = session.rank() == 0;
    if (prints)
        fmt::print("{:<12}{:>20}{:>15}{:>15}   {}\n", shape, "recursive doubling", "ring", "node-aware",
                   "chosen");
    for (const std::int64_t n : {1'000, 100'000, 1'000'000, 1'500'000}) {
        const float sum = sum_of_ranks(session.size());
        const auto seconds = [&](auto algorithm) {
            return measure(session, topology, session.size(), n, sum, algorithm).seconds;
        };
        const double doubling = seconds(recursive_doubling_all_reduce);
        const double ring = seconds(ring_all_reduce);
        const double nodes = seconds(node_aware);
        if (prints)
            fmt::print("{:>9} kB{:>17.1f} us{:>12.1f} us{:>12.1f} us   {}\n", n * 4 / 1000, 1e6 * doubling,
                       1e6 * ring, 1e6 * nodes,
                       name_of(choose_all_reduce(topology, placement, 4.0 * static_cast<double>(n))));
    }
    if (prints)
        fmt::print("recursive doubling up to {:.4g} kB\n",
                   1e-3 * last_of_recursive_doubling(topology, placement));
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        check(session.size() == 8, "expected 8 ranks, not {}", session.size());
        compare(session, "1x8");
        if (session.rank() == 0) fmt::print("\n");
        compare(session, "2x4");
        return 0;
    });
}
