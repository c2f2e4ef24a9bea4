#include "lib/tools/measure/collectives.hpp"

#include <array>
#include <functional>
#include <string_view>

#include "lessons/03_collectives/broadcast.hpp"
#include "lessons/03_collectives/measure.hpp"
#include "lessons/03_collectives/node_aware.hpp"
#include "lessons/03_collectives/recursive_doubling.hpp"
#include "lessons/03_collectives/ring.hpp"
#include "lib/tools/measure/steps.hpp"

namespace shardlings {

namespace {

using nlohmann::json;

struct Algorithm {
    std::string_view collective;
    std::string_view name;
    std::function<void(Comm&, Buffer)> call;
};

std::array<Algorithm, 5> algorithms(const Topology& topology, std::int64_t bytes)
{
    const int ranks = topology.devices();
    const Link& slowest = topology.nodes > 1 ? topology.inter : topology.intra;
    const int segments = collectives::best_segments(slowest, ranks, static_cast<double>(bytes));
    return {{
        {"all-reduce", "ring", collectives::ring_all_reduce},
        {"all-reduce", "recursive doubling", collectives::recursive_doubling_all_reduce},
        {"all-reduce", "node-aware",
         [](Comm& comm, Buffer values) {
             collectives::NodeGroups groups = collectives::make_node_groups(comm);
             collectives::node_aware_all_reduce(groups, values);
         }},
        {"broadcast", "tree",
         [](Comm& comm, Buffer values) { collectives::tree_broadcast(comm, values, 0); }},
        {"broadcast", "chain",
         [segments](Comm& comm, Buffer values) { collectives::chain_broadcast(comm, values, 0, segments); }},
    }};
}

}  // namespace

json measure_collectives_virtually(const MpiSession& session, const std::vector<Topology>& topologies,
                                   const std::vector<std::int64_t>& bytes)
{
    json rows = json::array();
    for (const Topology& topology : topologies) {
        const int ranks = topology.devices();
        check(session.size() >= ranks, "{} devices were started on {} ranks", ranks, session.size());
        for (const std::int64_t size : bytes)
            for (const Algorithm& algorithm : algorithms(topology, size)) {
                const float expected =
                    algorithm.collective == "broadcast" ? 1.0F : collectives::sum_of_ranks(ranks);
                const collectives::Cost cost = collectives::measure(
                    session, with_room(topology, session.size()), ranks,
                    size / static_cast<std::int64_t>(sizeof(float)), expected, algorithm.call);
                if (session.rank() != 0) continue;
                rows.push_back({{"collective", algorithm.collective},
                                {"algorithm", algorithm.name},
                                {"ranks", ranks},
                                {"nodes", topology.nodes},
                                {"bytes", size},
                                {"seconds", cost.seconds},
                                {"sent_bytes", cost.bytes},
                                {"busiest_bytes", cost.busiest},
                                {"inter_node_bytes", cost.between_nodes}});
            }
    }
    return rows;
}

}  // namespace shardlings
