// Programs of many kinds, each with one mistake that makes a deadlock of it, and the same without it.
#include <numeric>

#include "tests/lib/watch/case.hpp"

namespace {

/// Rank 0 hands out work and collects results as they come. Wrong: it never tells that there is no more.
void workers(const World& world, bool wrong)
{
    int value = 0;
    if (world.rank != 0) {
        for (;;) {
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            if (status.MPI_TAG == 2) return;
            MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
    }
    const auto others = static_cast<std::size_t>(world.size - 1);
    std::vector<MPI_Request> results(others);
    std::vector<int> values(others), indices(others);
    for (int work = 0; work < 3; ++work) {
        for (std::size_t i = 0; i < others; ++i) {
            const int worker = static_cast<int>(i) + 1;
            MPI_Irecv(&values[i], 1, MPI_INT, worker, 1, MPI_COMM_WORLD, &results[i]);
            send(worker, 1);
        }
        for (int all = 0, done = 0; all < world.size - 1; all += done)
            MPI_Testsome(world.size - 1, results.data(), &done, indices.data(), MPI_STATUSES_IGNORE);
    }
    for (int worker = 1; worker < world.size && !wrong; ++worker) send(worker, 2);
}

/// Nobody knows how many messages come: synchronous sends, probes, and a barrier that begins when one's own
/// have been received. Wrong: the last rank probes for another tag.
void consensus(const World& world, bool wrong)
{
    const int tag = wrong && world.rank == world.size - 1 ? 8 : 7;
    int out = 1;
    int in = 0;
    MPI_Request sent;
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Issend(&out, 1, MPI_INT, world.next(), 7, MPI_COMM_WORLD, &sent);
    for (int done = 0; done == 0;) {
        int found = 0;
        MPI_Message message;
        MPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);
        if (found != 0) MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        if (all != MPI_REQUEST_NULL) {
            MPI_Test(&all, &done, MPI_STATUS_IGNORE);
        } else {
            int received = 0;
            MPI_Test(&sent, &received, MPI_STATUS_IGNORE);
            if (received != 0) MPI_Ibarrier(MPI_COMM_WORLD, &all);
        }
    }
}

/// Buffered sends around a ring. Wrong: everybody receives from the rank it has sent to.
void buffered(const World& world, bool wrong)
{
    std::vector<char> buffer(1000 + MPI_BSEND_OVERHEAD);
    int value = world.rank;
    MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
    MPI_Bsend(&value, 1, MPI_INT, world.next(), 3, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, wrong ? world.next() : world.previous(), 3, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    void* detached = nullptr;
    int size = 0;
    MPI_Buffer_detach(&detached, &size);
}

/// Ready sends to receives that are there. Wrong: rank 2 has posted one too many.
void ready(const World& world, bool wrong)
{
    int values[2] = {};
    MPI_Request requests[2];
    const int receives = wrong && world.rank == 2 ? 2 : 1;
    for (int i = 0; i < receives; ++i)
        MPI_Irecv(&values[i], 1, MPI_INT, world.previous(), 3, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rsend(&world.rank, 1, MPI_INT, world.next(), 3, MPI_COMM_WORLD);
    MPI_Waitall(receives, requests, MPI_STATUSES_IGNORE);
}

/// Messages of no bytes, to and from nobody too. Wrong: synchronous sends of all before any receive.
void empty(const World& world, bool wrong)
{
    MPI_Recv(nullptr, 0, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Request requests[2];
    MPI_Irecv(nullptr, 0, MPI_INT, world.previous(), 1, MPI_COMM_WORLD, &requests[0]);
    if (wrong) MPI_Ssend(nullptr, 0, MPI_INT, world.next(), 2, MPI_COMM_WORLD);
    MPI_Isend(nullptr, 0, MPI_INT, world.next(), 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/// The halo of a grid, in derived types. Wrong: one rank takes its left for its right.
void grid(const World& world, bool wrong)
{
    MPI_Comm cart;
    MPI_Comm row;
    MPI_Datatype type;
    int sizes[2] = {};
    const int periods[2] = {1, 1};
    const int keep[2] = {0, 1};
    std::vector<double> matrix(9);
    int left = 0;
    int right = 0;
    MPI_Dims_create(world.size, 2, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &cart);
    MPI_Cart_sub(cart, keep, &row);
    MPI_Type_vector(3, 1, 3, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Cart_shift(cart, 0, 1, &left, &right);
    MPI_Barrier(row);
    MPI_Sendrecv(&matrix[1], 1, type, left, wrong && world.rank == 0 ? 2 : 1, &matrix[2], 1, type, right, 1,
                 cart, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    MPI_Comm_free(&row);
    MPI_Comm_free(&cart);
}

/// Collectives in place of all kinds. Wrong: rank 1 leaves out the last.
void in_place(const World& world, bool wrong)
{
    const auto n = static_cast<std::size_t>(world.size);
    std::vector<int> values(n), ones(n, 1), offsets(n);
    std::iota(offsets.begin(), offsets.end(), 0);
    int* v = values.data();
    const MPI_Comm w = MPI_COMM_WORLD;
    const bool root = world.rank == 0;
    MPI_Gather(root ? MPI_IN_PLACE : v, 1, MPI_INT, v, 1, MPI_INT, 0, w);
    MPI_Scatter(v, 1, MPI_INT, root ? MPI_IN_PLACE : v, 1, MPI_INT, 0, w);
    MPI_Gatherv(root ? MPI_IN_PLACE : v, 1, MPI_INT, v, ones.data(), offsets.data(), MPI_INT, 0, w);
    MPI_Scatterv(v, ones.data(), offsets.data(), MPI_INT, root ? MPI_IN_PLACE : v, 1, MPI_INT, 0, w);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, v, 1, MPI_INT, w);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, v, ones.data(), offsets.data(), MPI_INT, w);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, v, 1, MPI_INT, w);
    MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, v, ones.data(), offsets.data(), MPI_INT,
                  w);
    MPI_Reduce(root ? MPI_IN_PLACE : v, v, 1, MPI_INT, MPI_SUM, 0, w);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, v, 1, MPI_INT, MPI_SUM, w);
    MPI_Scan(MPI_IN_PLACE, v, 1, MPI_INT, MPI_SUM, w);
    if (!wrong || world.rank != 1) MPI_Allreduce(MPI_IN_PLACE, v, 1, MPI_INT, MPI_SUM, w);
}

/// Collectives among neighbours in `ring`. Wrong: rank 1 does not come to the second, for which its two
/// neighbours wait; the rank opposite does not.
void neighbourhood(const World& world, bool wrong, MPI_Comm ring, bool with_request)
{
    const int out[2] = {1, 2};
    int in[2] = {};
    MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, ring);
    if (wrong && world.rank == 1) receive(0, 9);
    if (with_request) {
        MPI_Request request;
        MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
    }
    if (wrong && world.rank == 0) send(1, 9);
    MPI_Comm_free(&ring);
}

MPI_Comm ring_of_all(const World& world)
{
    MPI_Comm ring;
    const int sources[2] = {world.previous(), world.next()};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, sources, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &ring);
    return ring;
}

void neighbours(const World& world, bool wrong)
{
    neighbourhood(world, wrong, ring_of_all(world), false);
}

void ineighbours(const World& world, bool wrong)
{
    neighbourhood(world, wrong, ring_of_all(world), true);
}

void cart_neighbours(const World& world, bool wrong)
{
    MPI_Comm ring;
    const int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &world.size, &periodic, 0, &ring);
    neighbourhood(world, wrong, ring, false);
}

void graph_neighbours(const World& world, bool wrong)
{
    MPI_Comm ring;
    std::vector<int> ends, edges;
    for (int rank = 0; rank < world.size; ++rank) {
        const World one{rank, world.size};
        edges.insert(edges.end(), {one.previous(), one.next()});
        ends.push_back(static_cast<int>(edges.size()));
    }
    MPI_Graph_create(MPI_COMM_WORLD, world.size, ends.data(), edges.data(), 0, &ring);
    neighbourhood(world, wrong, ring, false);
}

/// Errors that come back to the program, which goes on. Wrong: with a barrier less on one rank.
void errors(const World& world, bool wrong)
{
    MPI_Comm own;
    int value = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    MPI_Send(&value, 1, MPI_INT, world.size + 3, 1, own);
    MPI_Send(&value, -1, MPI_INT, world.next(), 1, own);
    MPI_Bcast(&value, 1, MPI_INT, -5, own);
    if (!wrong || world.rank != 3) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&own);
}

/// Messages and a barrier on communicators of some ranks only, and between groups. Wrong: one rank of each
/// group expects a message more.
void groups(const World& world, bool wrong)
{
    MPI_Comm half;
    MPI_Comm between;
    const int side = world.rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, world.rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 5, &between);
    if (side == 0) send(world.rank / 2, 2, between);
    if (side == 1 || wrong) receive(world.rank / 2, 2, between);
    if (side == 1 && wrong) receive(world.rank / 2, 2, between);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

void some(const World& world, bool wrong)
{
    MPI_Group all;
    MPI_Group odd;
    int range[1][3] = {{1, world.size - 1, 2}};
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_range_incl(all, 1, range, &odd);
    if (world.rank % 2 == 1) {
        MPI_Comm made;
        MPI_Comm_create_group(MPI_COMM_WORLD, odd, 3, &made);
        MPI_Barrier(made);
        int rank = 0;
        MPI_Comm_rank(made, &rank);
        if (rank == 0) send(1, 2, made);
        if (rank == 1) receive(0, wrong ? 3 : 2, made);
        MPI_Comm_free(&made);
    }
    MPI_Group_free(&odd);
    MPI_Group_free(&all);
}

struct Kind {
    const char* name;
    void (*run)(const World&, bool wrong);
};

constexpr Kind kinds[] = {{"workers", workers},
                          {"consensus", consensus},
                          {"buffered", buffered},
                          {"ready", ready},
                          {"empty", empty},
                          {"grid", grid},
                          {"in_place", in_place},
                          {"neighbours", neighbours},
                          {"ineighbours", ineighbours},
                          {"errors", errors},
                          {"groups", groups},
                          {"some", some},
                          {"cart_neighbours", cart_neighbours},
                          {"graph_neighbours", graph_neighbours}};

}  // namespace

/// argv[1] names the one that is run with its mistake; "none" runs all without.
int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    World world{};
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world.size);
    const bool none = argc > 1 && std::strcmp(argv[1], "none") == 0;
    for (const Kind& kind : kinds)
        if (none || (argc > 1 && std::strcmp(argv[1], kind.name) == 0)) kind.run(world, !none);
    MPI_Finalize();
    return 0;
}
