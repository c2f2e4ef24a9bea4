// Broadcasts of 30 MB to 8 devices: the tree, and the chain with more and more segments.
#include <fmt/core.h>

#include "lessons/03_collectives/broadcast.hpp"
#include "lessons/03_collectives/measure.hpp"

using namespace collectives;

namespace {

constexpr std::int64_t elements = 7'500'000;
constexpr double bytes = 4.0 * elements;

int run(const MpiSession& session)
{
    const int p = session.size();
    Topology topology;
    topology.devices_per_node = p;
    const Link& link = topology.intra;
    const auto report = [&](const std::string& name, double formula, auto broadcast) {
        const Cost cost = measure(session, topology, p, elements, 1.0F, broadcast);
        if (session.rank() == 0)
            fmt::print("{:<22}{:>11.1f} us{:>11.1f} us{:>11.1f} MB\n", name, 1e6 * cost.seconds,
                       1e6 * formula, 1e-6 * cost.bytes);
    };
    if (session.rank() == 0)
        fmt::print("{:<22}{:>14}{:>14}{:>14}\n", "p = 8, 30 MB", "time", "formula", "sent by all");
    report("tree", 3 * link.seconds(bytes),
           [](Comm& comm, Buffer values) { tree_broadcast(comm, values, 0); });
    const int best = best_segments(link, p, bytes);
    for (const int segments : {1, 4, best, 60, 600})
        report(fmt::format("chain, {} segment{}{}", segments, segments == 1 ? "" : "s",
                           segments == best ? " *" : ""),
               (p - 2 + segments) * link.seconds(bytes / segments),
               [segments](Comm& comm, Buffer values) { chain_broadcast(comm, values, 0, segments); });
    if (session.rank() == 0) fmt::print("* best_segments\n");
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        check(session.size() == 8, "expected 8 ranks, not {}", session.size());
        return run(session);
    });
}
