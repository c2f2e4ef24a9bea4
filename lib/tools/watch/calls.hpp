// The MPI calls that are watched, by number in the record and by name in a report.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace shardlings::watch {

// clang-format off
#define SHARDLINGS_WATCHED_CALLS(X) \
    X(none) X(Send) X(Ssend) X(Bsend) X(Rsend) X(Recv) X(Sendrecv) X(Sendrecv_replace) X(Isend) \
    X(Issend) X(Ibsend) X(Irsend) X(Irecv) X(Send_init) X(Ssend_init) X(Bsend_init) X(Rsend_init) \
    X(Recv_init) X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Test) X(Testall) X(Testany) X(Testsome) \
    X(Request_get_status) X(Probe) X(Iprobe) X(Mprobe) X(Improbe) X(Mrecv) X(Imrecv) X(Barrier) X(Bcast) \
    X(Reduce) X(Allreduce) X(Gather) X(Gatherv) X(Scatter) X(Scatterv) X(Allgather) X(Allgatherv) \
    X(Alltoall) X(Alltoallv) X(Alltoallw) X(Reduce_scatter) X(Reduce_scatter_block) X(Scan) X(Exscan) \
    X(Ibarrier) X(Ibcast) X(Ireduce) X(Iallreduce) X(Igather) X(Igatherv) X(Iscatter) X(Iscatterv) \
    X(Iallgather) X(Iallgatherv) X(Ialltoall) X(Ialltoallv) X(Ialltoallw) X(Ireduce_scatter) \
    X(Ireduce_scatter_block) X(Iscan) X(Iexscan) X(Neighbor_allgather) X(Neighbor_allgatherv) \
    X(Neighbor_alltoall) X(Neighbor_alltoallv) X(Neighbor_alltoallw) X(Ineighbor_allgather) \
    X(Ineighbor_allgatherv) X(Ineighbor_alltoall) X(Ineighbor_alltoallv) X(Ineighbor_alltoallw) X(Comm_dup) X(Comm_dup_with_info) X(Comm_idup) \
    X(Comm_split) X(Comm_split_type) X(Comm_create) X(Comm_create_group) X(Cart_create) X(Cart_sub) \
    X(Intercomm_create) X(Intercomm_merge) X(Graph_create) X(Dist_graph_create) X(Dist_graph_create_adjacent) X(Finalize) X(Abort)
// clang-format on

enum class Call : std::uint32_t {
#define SHARDLINGS_ENUMERATOR(name) name,
    SHARDLINGS_WATCHED_CALLS(SHARDLINGS_ENUMERATOR)
#undef SHARDLINGS_ENUMERATOR
        count
};

/// A collective in which a rank waits for its neighbours in the topology only.
inline bool is_among_neighbours(Call call)
{
    return call >= Call::Neighbor_allgather && call <= Call::Ineighbor_alltoallw;
}

/// "MPI_Recv". A number that is no call, which a damaged record may hold, is "an MPI call".
inline std::string name_of(Call call)
{
    static constexpr std::array names{
#define SHARDLINGS_NAME(name) "MPI_" #name,
        SHARDLINGS_WATCHED_CALLS(SHARDLINGS_NAME)
#undef SHARDLINGS_NAME
    };
    const auto index = static_cast<std::size_t>(call);
    return call == Call::none || index >= names.size() ? "an MPI call" : names[index];
}

}  // namespace shardlings::watch
