// All-reduce of 30 MB on 2, 4 and 8 devices: time and traffic, measured beside the formula.  cost naive|ring
#include <fmt/core.h>

#include <string_view>

#include "lessons/03_collectives/measure.hpp"
#include "lessons/03_collectives/own/my_all_reduce.hpp"
#include "lessons/03_collectives/ring.hpp"

using namespace collectives;

namespace {

constexpr std::int64_t elements = 7'500'000;
constexpr double bytes = 4.0 * elements;

/// Seconds on p devices with one kind of link.
double formula(bool naive, const Link& link, int p)
{
    return naive ? p * link.seconds(bytes) : 2 * (p - 1) * link.seconds(bytes / p);
}

int run(const MpiSession& session, bool naive)
{
    if (session.rank() == 0)
        fmt::print("{:>3}{:>14}{:>20}{:>18}{:>18}\n", "p", "time", naive ? "p(α + βn)" : "2(p−1)(α + βn/p)",
                   "sent by all", "by the busiest");
    Topology topology;
    topology.devices_per_node = session.size();
    for (const int p : {2, 4, 8}) {
        const Cost cost =
            measure(session, topology, p, elements, sum_of_ranks(p), naive ? my_all_reduce : ring_all_reduce);
        if (session.rank() != 0) continue;
        fmt::print("{:>3}{:>11.1f} us{:>17.1f} us{:>15.1f} MB{:>15.1f} MB\n", p, 1e6 * cost.seconds,
                   1e6 * formula(naive, topology.intra, p), 1e-6 * cost.bytes, 1e-6 * cost.busiest);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [&](MpiSession& session) {
        const std::string_view which = argc == 2 ? argv[1] : "";
        check(which == "naive" || which == "ring", "usage: {} naive|ring", argv[0]);
        check(session.size() == 8, "expected 8 ranks, not {}", session.size());
        return run(session, which == "naive");
    });
}
