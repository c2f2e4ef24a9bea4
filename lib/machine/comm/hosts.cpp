#include "lib/machine/comm/hosts.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

#include "lib/machine/comm/environment.hpp"
#include "lib/machine/comm/state.hpp"

namespace shardlings {

namespace {

/// For every rank, the lowest rank on its host.
std::vector<int> first_on_host(const MpiSession& session)
{
    MPI_Comm host = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, session.rank(), MPI_INFO_NULL, &host),
              "MPI_Comm_split_type");
    int first = session.rank();
    check_mpi(MPI_Bcast(&first, 1, MPI_INT, 0, host), "MPI_Bcast");
    check_mpi(MPI_Comm_free(&host), "MPI_Comm_free");
    std::vector<int> all(static_cast<std::size_t>(session.size()));
    check_mpi(MPI_Allgather(&first, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD), "MPI_Allgather");
    return all;
}

}  // namespace

Hosts find_hosts(const MpiSession& session)
{
    if (std::getenv(simulated_rank_variable) != nullptr) return {1, session.size(), true};
    const std::vector<int> first = first_on_host(session);
    Hosts hosts;
    hosts.number = static_cast<int>(std::set<int>(first.begin(), first.end()).size());
    hosts.ranks_per_host = static_cast<int>(std::ranges::count(first, 0));
    for (int rank = 0; rank < session.size(); ++rank)
        hosts.regular = hosts.regular && first[static_cast<std::size_t>(rank)] ==
                                             rank / hosts.ranks_per_host * hosts.ranks_per_host;
    return hosts;
}

Topology with_hosts(Topology topology, const Hosts& hosts)
{
    if (hosts.number == 1 || !hosts.regular) return topology;
    topology.nodes = hosts.number;
    topology.devices_per_node = hosts.ranks_per_host;
    return topology;
}

}  // namespace shardlings
