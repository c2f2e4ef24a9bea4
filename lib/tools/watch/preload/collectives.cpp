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

bool is_between_groups(MPI_Comm on)
{
    int between = 0;
    PMPI_Comm_test_inter(on, &between);
    return between != 0;
}

long sum(MPI_Comm on, const int counts[])
{
    int size = 0;
    if (is_between_groups(on)) return -1;  // `counts` is of the other group's size
    PMPI_Comm_size(on, &size);
    long all = 0;
    for (int i = 0; i < size; ++i) all += counts[i];
    return all;
}

std::uint64_t bytes_of(long count, MPI_Datatype type)
{
    int size = 0;
    if (count < 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &size) != MPI_SUCCESS) return 0;
    return 1 + static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(count);
}

/// A number of elements for each rank, seen from this one.
Sides each(MPI_Comm on, const int counts[], MPI_Datatype type)
{
    int rank = 0;
    int size = 0;
    if (is_between_groups(on)) return {};
    PMPI_Comm_rank(on, &rank);
    PMPI_Comm_size(on, &size);
    return {{bytes_of(counts[(rank + size - 1) % size], type), bytes_of(counts[(rank + 1) % size], type)}};
}

/// At the root `counts`, elsewhere `count` as far as a neighbour is the root.
Terms one_to_each(int root, MPI_Comm on, const int counts[], MPI_Datatype root_type, int count,
                  MPI_Datatype type, Sides Terms::*at_root, Sides Terms::*elsewhere)
{
    Terms terms{root};
    int rank = 0;
    int size = 0;
    if (is_between_groups(on)) return terms;
    PMPI_Comm_rank(on, &rank);
    PMPI_Comm_size(on, &size);
    if (rank == root) {
        terms.*at_root = each(on, counts, root_type);
    } else {
        if ((rank + size - 1) % size == root) (terms.*elsewhere).bytes[0] = bytes_of(count, type);
        if ((rank + 1) % size == root) (terms.*elsewhere).bytes[1] = bytes_of(count, type);
    }
    return terms;
}

Terms all_to_each(MPI_Comm on, const void* out, int count, MPI_Datatype type, const int counts[],
                  MPI_Datatype in_type)
{
    Terms terms{any, sum(on, counts), in_type};
    int rank = 0;
    PMPI_Comm_rank(on, &rank);
    if (is_between_groups(on)) return terms;
    const std::uint64_t own_part =
        out == MPI_IN_PLACE ? bytes_of(counts[rank], in_type) : bytes_of(count, type);
    terms.sent = {{own_part, own_part}};
    terms.expected = each(on, counts, in_type);
    return terms;
}

Terms each_to_each(MPI_Comm on, const void* out, const int out_counts[], MPI_Datatype out_type,
                   const int in_counts[], MPI_Datatype in_type)
{
    Terms terms;
    terms.expected = each(on, in_counts, in_type);
    terms.sent = out == MPI_IN_PLACE ? terms.expected : each(on, out_counts, out_type);
    return terms;
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
                   {root, count, type, op})
WATCHED_COLLECTIVE(Allreduce, Iallreduce, (REDUCED, ), (out, in, count, type, op, ), {any, count, type, op})
WATCHED_COLLECTIVE(Scan, Iscan, (REDUCED, ), (out, in, count, type, op, ), {any, count, type, op})
WATCHED_COLLECTIVE(Exscan, Iexscan, (REDUCED, ), (out, in, count, type, op, ), {any, count, type, op})
WATCHED_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, (REDUCED, ), (out, in, count, type, op, ),
                   {any, count, type, op})
WATCHED_COLLECTIVE(Reduce_scatter, Ireduce_scatter,
                   (const void* out, void* in, const int counts[], MPI_Datatype type, MPI_Op op, ),
                   (out, in, counts, type, op, ), {any, sum(on, counts), type, op})
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
// With a number of elements for every rank, what one rank sends is what the other expects.
WATCHED_COLLECTIVE(Gatherv, Igatherv,
                   (SENT, void* in, const int counts[], const int places[], MPI_Datatype in_type, int root, ),
                   (out, out_count, out_type, in, counts, places, in_type, root, ),
                   (one_to_each(root, on, counts, in_type, out_count, out_type, &Terms::expected,
                                &Terms::sent)))
WATCHED_COLLECTIVE(
    Scatterv, Iscatterv,
    (const void* out, const int counts[], const int places[], MPI_Datatype out_type, RECEIVED, int root, ),
    (out, counts, places, out_type, in, in_count, in_type, root, ),
    (one_to_each(root, on, counts, out_type, in_count, in_type, &Terms::sent, &Terms::expected)))
WATCHED_COLLECTIVE(Allgatherv, Iallgatherv,
                   (SENT, void* in, const int counts[], const int places[], MPI_Datatype in_type, ),
                   (out, out_count, out_type, in, counts, places, in_type, ),
                   (all_to_each(on, out, out_count, out_type, counts, in_type)))
WATCHED_COLLECTIVE(Alltoallv, Ialltoallv,
                   (const void* out, const int out_counts[], const int out_places[], MPI_Datatype out_type,
                    void* in, const int in_counts[], const int in_places[], MPI_Datatype in_type, ),
                   (out, out_counts, out_places, out_type, in, in_counts, in_places, in_type, ),
                   (each_to_each(on, out, out_counts, out_type, in_counts, in_type)))
WATCHED_COLLECTIVE(Alltoallw, Ialltoallw,
                   (const void* out, const int out_counts[], const int out_places[],
                    const MPI_Datatype out_types[], void* in, const int in_counts[], const int in_places[],
                    const MPI_Datatype in_types[], ),
                   (out, out_counts, out_places, out_types, in, in_counts, in_places, in_types, ), {})

// Among neighbours in a topology; what the one sends and the other expects is not compared.
WATCHED_COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, (SENT, RECEIVED, ),
                   (out, out_count, out_type, in, in_count, in_type, ), {})
WATCHED_COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv,
                   (SENT, void* in, const int counts[], const int places[], MPI_Datatype in_type, ),
                   (out, out_count, out_type, in, counts, places, in_type, ), {})
WATCHED_COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, (SENT, RECEIVED, ),
                   (out, out_count, out_type, in, in_count, in_type, ), {})
WATCHED_COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv,
                   (const void* out, const int out_counts[], const int out_places[], MPI_Datatype out_type,
                    void* in, const int in_counts[], const int in_places[], MPI_Datatype in_type, ),
                   (out, out_counts, out_places, out_type, in, in_counts, in_places, in_type, ), {})
WATCHED_COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw,
                   (const void* out, const int out_counts[], const MPI_Aint out_places[],
                    const MPI_Datatype out_types[], void* in, const int in_counts[],
                    const MPI_Aint in_places[], const MPI_Datatype in_types[], ),
                   (out, out_counts, out_places, out_types, in, in_counts, in_places, in_types, ), {})
