// Collectives that some ranks do not come to, or come to with something else.
#include "tests/lib/watch/case.hpp"

namespace {

/// Room for what any collective of one element per rank needs.
struct Buffers {
    explicit Buffers(const World& world)
        : out(static_cast<std::size_t>(world.size)),
          in(out.size()),
          ones(out.size(), 1),
          offsets(out.size()),
          places(out.size()),
          types(out.size(), MPI_INT)
    {
        for (std::size_t i = 0; i < places.size(); ++i) {
            offsets[i] = static_cast<int>(i);
            places[i] = static_cast<int>(i * sizeof(int));
        }
    }
    std::vector<int> out, in, ones;
    std::vector<int> offsets, places;  // in elements, in bytes
    std::vector<MPI_Datatype> types;
};

/// Rank 1 does not come to collective `which`.
template <class Collective>
void skipped(const World& world, Collective collective)
{
    Buffers b(world);
    if (world.rank != 1) collective(b);
    MPI_Request request;
    int value = 0;
    if (world.rank == 1) MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    if (world.rank == 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (world.rank == 0) send(1, 0);
}

template <class Collective>
void skipped_request(const World& world, Collective collective)
{
    skipped(world, [&](Buffers& b) {
        MPI_Request request;
        collective(b, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
}

#define W MPI_COMM_WORLD
#define OUT b.out.data(), 1, MPI_INT
#define IN b.in.data(), 1, MPI_INT
#define V b.ones.data(), b.offsets.data(), MPI_INT
#define ALL b.ones.data(), b.places.data(), b.types.data()
#define SUM b.out.data(), b.in.data(), 1, MPI_INT, MPI_SUM

// Root 1, which never comes: whoever is waited for is missing, in whatever order the messages would have
// gone.
#define EVERY_COLLECTIVE(X)                                                                               \
    X(barrier, Barrier, Ibarrier, W)                                                                      \
    X(bcast, Bcast, Ibcast, OUT, 1, W)                                                                    \
    X(reduce, Reduce, Ireduce, SUM, 0, W)                                                                 \
    X(allreduce, Allreduce, Iallreduce, SUM, W)                                                           \
    X(gather, Gather, Igather, OUT, IN, 0, W)                                                             \
    X(gatherv, Gatherv, Igatherv, OUT, b.in.data(), V, 0, W)                                              \
    X(scatter, Scatter, Iscatter, OUT, IN, 1, W)                                                          \
    X(scatterv, Scatterv, Iscatterv, b.out.data(), V, IN, 1, W)                                           \
    X(allgather, Allgather, Iallgather, OUT, IN, W)                                                       \
    X(allgatherv, Allgatherv, Iallgatherv, OUT, b.in.data(), V, W)                                        \
    X(alltoall, Alltoall, Ialltoall, OUT, IN, W)                                                          \
    X(alltoallv, Alltoallv, Ialltoallv, b.out.data(), V, b.in.data(), V, W)                               \
    X(alltoallw, Alltoallw, Ialltoallw, b.out.data(), ALL, b.in.data(), ALL, W)                           \
    X(reduce_scatter, Reduce_scatter, Ireduce_scatter, b.out.data(), b.in.data(), b.ones.data(), MPI_INT, \
      MPI_SUM, W)                                                                                         \
    X(reduce_scatter_block, Reduce_scatter_block, Ireduce_scatter_block, SUM, W)                          \
    X(scan, Scan, Iscan, SUM, W)                                                                          \
    X(exscan, Exscan, Iexscan, SUM, W)

#define SKIPPED(name, call, icall, ...)                                                                   \
    void skipped_##name(const World& world)                                                               \
    {                                                                                                     \
        skipped(world, [](Buffers& b) { (void)b, MPI_##call(__VA_ARGS__); });                             \
    }                                                                                                     \
    void skipped_i##name(const World& world)                                                              \
    {                                                                                                     \
        skipped_request(world, [](Buffers& b, MPI_Request* r) { (void)b, MPI_##icall(__VA_ARGS__, r); }); \
    }
EVERY_COLLECTIVE(SKIPPED)

void skipped_split(const World& world)
{
    skipped(world, [&](Buffers&) {
        MPI_Comm half;
        MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &half);
    });
}

void skipped_at_the_end(const World& world)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (world.rank != 1) MPI_Barrier(MPI_COMM_WORLD);
}

void other_collective(const World& world)
{
    int value = 0;
    if (world.rank == 2)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

void other_root(const World& world)
{
    int value = 0;
    MPI_Bcast(&value, 1, MPI_INT, world.rank == 1 ? 1 : 0, MPI_COMM_WORLD);
}

void other_count(const World& world)
{
    double values[8] = {};
    double sums[8] = {};
    MPI_Allreduce(values, sums, world.rank == 1 ? 4 : 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

void other_type(const World& world)
{
    float values[4] = {};
    float sums[4] = {};
    MPI_Allreduce(values, sums, 4, world.rank == 0 ? MPI_INT : MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

/// Four integers, as one of a type and as four: the same.
void other_reduction(const World& world)
{
    double out[2] = {};
    double in[2] = {};
    MPI_Allreduce(out, in, 2, MPI_DOUBLE, world.rank == 1 ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
}

/// Rank 1 sends two elements where one is expected.
void gatherv_too_much(const World& world)
{
    Buffers b(world);
    const int two[2] = {};
    MPI_Gatherv(two, world.rank == 1 ? 2 : 1, MPI_INT, b.in.data(), V, 0, MPI_COMM_WORLD);
}

/// Rank 0 sends one element to each rank, and the last expects none.
void scatterv_too_little(const World& world)
{
    Buffers b(world);
    MPI_Scatterv(b.out.data(), V, b.in.data(), world.rank == world.size - 1 ? 0 : 1, MPI_INT, 0,
                 MPI_COMM_WORLD);
}

void alltoallv_unequal(const World& world)
{
    Buffers b(world);
    const std::vector<int> none(b.ones.size());
    MPI_Alltoallv(b.out.data(), world.rank == 2 ? none.data() : b.ones.data(), b.offsets.data(), MPI_INT,
                  b.in.data(), V, MPI_COMM_WORLD);
}

void same_bytes(const World& world)
{
    int values[4] = {};
    MPI_Datatype four;
    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_commit(&four);
    MPI_Bcast(values, world.rank == 0 ? 1 : 4, world.rank == 0 ? four : MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Type_free(&four);
}

/// The other order on two communicators.
void two_orders(const World& world)
{
    MPI_Comm copies[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &copies[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &copies[1]);
    MPI_Barrier(copies[world.rank == 0 ? 0 : 1]);
    MPI_Barrier(copies[world.rank == 0 ? 1 : 0]);
}

void all_of_them(const World& world)
{
    Buffers b(world);
    MPI_Request r;
#define CALLED(name, call, icall, ...) \
    MPI_##call(__VA_ARGS__);           \
    MPI_##icall(__VA_ARGS__, &r);      \
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    EVERY_COLLECTIVE(CALLED)
}

}  // namespace

int main(int argc, char** argv)
{
#define NAMED(name, call, icall, ...) \
    {"skipped_" #name, skipped_##name}, {"skipped_i" #name, skipped_i##name},
    return run_case(argc, argv,
                    {EVERY_COLLECTIVE(NAMED){"skipped_split", skipped_split},
                     {"skipped_at_the_end", skipped_at_the_end},
                     {"other_collective", other_collective},
                     {"other_root", other_root},
                     {"other_count", other_count},
                     {"other_type", other_type},
                     {"other_reduction", other_reduction},
                     {"gatherv_too_much", gatherv_too_much},
                     {"scatterv_too_little", scatterv_too_little},
                     {"alltoallv_unequal", alltoallv_unequal},
                     {"same_bytes", same_bytes},
                     {"two_orders", two_orders},
                     {"all_of_them", all_of_them}});
}
