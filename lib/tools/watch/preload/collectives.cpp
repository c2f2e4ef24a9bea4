// MPI's collectives, each with the terms that all ranks have to agree on.
#include "lib/tools/watch/preload/collective.hpp"

using namespace shardlings::watch;

namespace {

/// At the root its own number of elements per rank counts, elsewhere what the rank contributes.
Terms rooted(int root, MPI_Comm on, int root_count, MPI_Datatype root_type, int count, MPI_Datatype type)
{
    int rank = 0;
    PMPI_Comm_rank(on, &rank);
    return rank == root ? Terms{root, root_count, root_type} : Terms{root, count, type};
}

long sum(MPI_Comm on, const int counts[])
{
    int size = 0;
    PMPI_Comm_size(on, &size);
    long all = 0;
    for (int i = 0; i < size; ++i) all += counts[i];
    return all;
}

}  // namespace

// Both forms of a collective: `parameters` and `arguments` are those they share, in parentheses of their own.
#define UNPACK(...) __VA_ARGS__
#define WATCHED_COLLECTIVE(name, iname, parameters, arguments, ...)                                  \
    WATCHED MPI_##name(UNPACK parameters MPI_Comm on)                                                \
    {                                                                                                \
        if (!watching()) return PMPI_##name(UNPACK arguments on);                                    \
        return collective(Call::name, CALL_SITE, on, Terms __VA_ARGS__,                              \
                          [&] { return PMPI_##name(UNPACK arguments on); });                         \
    }                                                                                                \
    WATCHED MPI_##iname(UNPACK parameters MPI_Comm on, MPI_Request* request)                         \
    {                                                                                                \
        if (!watching()) return PMPI_##iname(UNPACK arguments on, request);                          \
        return begin_collective_request(Call::iname, CALL_SITE, on, Terms __VA_ARGS__, request,      \
                                        [&] { return PMPI_##iname(UNPACK arguments on, request); }); \
    }

#define SENT const void *out, int out_count, MPI_Datatype out_type
#define RECEIVED void *in, int in_count, MPI_Datatype in_type
#define REDUCED const void *out, void *in, int count, MPI_Datatype type, MPI_Op op

WATCHED_COLLECTIVE(Barrier, Ibarrier, (), (), {})
WATCHED_COLLECTIVE(Bcast, Ibcast, (void* buffer, int count, MPI_Datatype type, int root, ),
                   (buffer, count, type, root, ), {root, count, type})
WATCHED_COLLECTIVE(Reduce, Ireduce, (REDUCED, int root, ), (out, in, count, type, op, root, ),
                   {root, count, type})
WATCHED_COLLECTIVE(Allreduce, Iallreduce, (REDUCED, ), (out, in, count, type, op, ), {any, count, type})
WATCHED_COLLECTIVE(Scan, Iscan, (REDUCED, ), (out, in, count, type, op, ), {any, count, type})
WATCHED_COLLECTIVE(Exscan, Iexscan, (REDUCED, ), (out, in, count, type, op, ), {any, count, type})
WATCHED_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, (REDUCED, ), (out, in, count, type, op, ),
                   {any, count, type})
WATCHED_COLLECTIVE(Reduce_scatter, Ireduce_scatter,
                   (const void* out, void* in, const int counts[], MPI_Datatype type, MPI_Op op, ),
                   (out, in, counts, type, op, ), {any, sum(on, counts), type})
WATCHED_COLLECTIVE(Gather, Igather, (SENT, RECEIVED, int root, ),
                   (out, out_count, out_type, in, in_count, in_type, root, ),
                   (rooted(root, on, in_count, in_type, out_count, out_type)))
WATCHED_COLLECTIVE(Scatter, Iscatter, (SENT, RECEIVED, int root, ),
                   (out, out_count, out_type, in, in_count, in_type, root, ),
                   (rooted(root, on, out_count, out_type, in_count, in_type)))
WATCHED_COLLECTIVE(Allgather, Iallgather, (SENT, RECEIVED, ),
                   (out, out_count, out_type, in, in_count, in_type, ), {any, in_count, in_type})
WATCHED_COLLECTIVE(Alltoall, Ialltoall, (SENT, RECEIVED, ),
                   (out, out_count, out_type, in, in_count, in_type, ), {any, in_count, in_type})
// With a number of elements for every rank, what one rank says of itself is not what another says of itself.
WATCHED_COLLECTIVE(Gatherv, Igatherv,
                   (SENT, void* in, const int counts[], const int places[], MPI_Datatype in_type, int root, ),
                   (out, out_count, out_type, in, counts, places, in_type, root, ), {root})
WATCHED_COLLECTIVE(Scatterv, Iscatterv,
                   (const void* out, const int counts[], const int places[], MPI_Datatype out_type, RECEIVED,
                    int root, ),
                   (out, counts, places, out_type, in, in_count, in_type, root, ), {root})
WATCHED_COLLECTIVE(Allgatherv, Iallgatherv,
                   (SENT, void* in, const int counts[], const int places[], MPI_Datatype in_type, ),
                   (out, out_count, out_type, in, counts, places, in_type, ), {any, sum(on, counts), in_type})
WATCHED_COLLECTIVE(Alltoallv, Ialltoallv,
                   (const void* out, const int out_counts[], const int out_places[], MPI_Datatype out_type,
                    void* in, const int in_counts[], const int in_places[], MPI_Datatype in_type, ),
                   (out, out_counts, out_places, out_type, in, in_counts, in_places, in_type, ), {})
WATCHED_COLLECTIVE(Alltoallw, Ialltoallw,
                   (const void* out, const int out_counts[], const int out_places[],
                    const MPI_Datatype out_types[], void* in, const int in_counts[], const int in_places[],
                    const MPI_Datatype in_types[], ),
                   (out, out_counts, out_places, out_types, in, in_counts, in_places, in_types, ), {})
