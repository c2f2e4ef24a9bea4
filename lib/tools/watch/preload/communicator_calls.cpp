// MPI's calls that make and free communicators. Making one is a collective on the parent.
#include "lib/tools/watch/preload/collective.hpp"

using namespace shardlings::watch;

namespace {

template <class Real>
int make(Call call, std::uint64_t site, MPI_Comm parent, const MPI_Comm* made, Real real)
{
    const int result = collective(call, site, parent, {}, real);
    const Communicator* from = find_communicator(parent);
    if (result == MPI_SUCCESS && from != nullptr && from->shared != nullptr) {
        ++own.depth;
        add_communicator(*made, from, from->shared->collectives, call);
        --own.depth;
    }
    return result;
}

/// Who has come to it is not known.
template <class Real>
int make_by_members(Call call, std::uint64_t site, const MPI_Comm* made, Real real)
{
    constexpr int slot = not_followed;
    const Waiting waiting(call, site, true, std::span(&slot, 1));
    const int result = real();
    if (result == MPI_SUCCESS) add_communicator_of_members(*made, call);
    return result;
}

}  // namespace

#define WATCHED_MAKER(name, parameters, arguments)                               \
    WATCHED MPI_##name(MPI_Comm parent, UNPACK parameters MPI_Comm* made)        \
    {                                                                            \
        if (!watching()) return PMPI_##name(parent, UNPACK arguments made);      \
        return make(Call::name, CALL_SITE, parent, made,                         \
                    [&] { return PMPI_##name(parent, UNPACK arguments made); }); \
    }
#define UNPACK(...) __VA_ARGS__

WATCHED_MAKER(Comm_dup, (), ())
WATCHED_MAKER(Comm_dup_with_info, (MPI_Info info, ), (info, ))
WATCHED_MAKER(Comm_split, (int color, int key, ), (color, key, ))
WATCHED_MAKER(Comm_split_type, (int type, int key, MPI_Info info, ), (type, key, info, ))
WATCHED_MAKER(Comm_create, (MPI_Group group, ), (group, ))
WATCHED_MAKER(Cart_create, (int n, const int sizes[], const int periodic[], int reorder, ),
              (n, sizes, periodic, reorder, ))
WATCHED_MAKER(Cart_sub, (const int remain[], ), (remain, ))
WATCHED_MAKER(Graph_create, (int n, const int index[], const int edges[], int reorder, ),
              (n, index, edges, reorder, ))
WATCHED_MAKER(Dist_graph_create,
              (int n, const int from[], const int degrees[], const int to[], const int weights[],
               MPI_Info info, int reorder, ),
              (n, from, degrees, to, weights, info, reorder, ))
WATCHED_MAKER(Dist_graph_create_adjacent,
              (int in, const int from[], const int in_weights[], int out, const int to[],
               const int out_weights[], MPI_Info info, int reorder, ),
              (in, from, in_weights, out, to, out_weights, info, reorder, ))

// The new communicator has the parent's ranks; it cannot be asked for them before it is complete.
WATCHED MPI_Comm_idup(MPI_Comm parent, MPI_Comm* made, MPI_Request* request)
{
    if (!watching()) return PMPI_Comm_idup(parent, made, request);
    const int result = begin_collective_request(Call::Comm_idup, CALL_SITE, parent, {}, request,
                                                [&] { return PMPI_Comm_idup(parent, made, request); });
    const Communicator* from = find_communicator(parent);
    if (result == MPI_SUCCESS && from != nullptr && from->shared != nullptr)
        add_communicator(*made, from, from->shared->collectives, Call::Comm_idup, from->world);
    return result;
}

// Only the group's ranks take part, so the parent's collectives do not count it.
WATCHED MPI_Comm_create_group(MPI_Comm parent, MPI_Group group, int tag, MPI_Comm* made)
{
    if (!watching()) return PMPI_Comm_create_group(parent, group, tag, made);
    return make_by_members(Call::Comm_create_group, CALL_SITE, made,
                           [&] { return PMPI_Comm_create_group(parent, group, tag, made); });
}

WATCHED MPI_Intercomm_create(MPI_Comm group, int leader, MPI_Comm peers, int other_leader, int tag,
                             MPI_Comm* made)
{
    if (!watching()) return PMPI_Intercomm_create(group, leader, peers, other_leader, tag, made);
    return make_by_members(Call::Intercomm_create, CALL_SITE, made, [&] {
        return PMPI_Intercomm_create(group, leader, peers, other_leader, tag, made);
    });
}

WATCHED MPI_Intercomm_merge(MPI_Comm between, int high, MPI_Comm* made)
{
    if (!watching()) return PMPI_Intercomm_merge(between, high, made);
    return make_by_members(Call::Intercomm_merge, CALL_SITE, made,
                           [&] { return PMPI_Intercomm_merge(between, high, made); });
}

WATCHED MPI_Comm_free(MPI_Comm* communicator)
{
    if (watching()) forget_communicator(*communicator);
    return PMPI_Comm_free(communicator);
}

WATCHED MPI_Comm_disconnect(MPI_Comm* communicator)
{
    if (watching()) forget_communicator(*communicator);
    return PMPI_Comm_disconnect(communicator);
}
