// Correct programs that wait, longer than it takes to suspect them, in calls of MPI that are not followed, or
// in uncommon ways: nothing may be said of them.
#include <unistd.h>

#include <string>
#include <thread>

#include "tests/lib/watch/case.hpp"

namespace {

constexpr double long_enough = 1.3;  // seconds, over twice the period

/// Rank 0 comes late, and the last rank waits for a message of the one before it, which comes after `call`.
template <class Call>
void with_late_rank(const World& world, Call call)
{
    if (world.rank == 0) compute(long_enough);
    call();
    if (world.rank == world.size - 2) send(world.rank + 1, 1);
    if (world.rank == world.size - 1) receive(world.rank - 1, 1);
}

void fences(const World& world)
{
    int value = 0;
    MPI_Win window;
    MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    with_late_rank(world, [&] {
        MPI_Win_fence(0, window);
        MPI_Put(&world.rank, 1, MPI_INT, world.next(), 0, 1, MPI_INT, window);
        MPI_Win_fence(0, window);
    });
    MPI_Win_free(&window);
}

/// Rank 1 holds the lock of rank 0's window, rank 2 wants it, and rank 3 waits for rank 2.
void locks(const World& world)
{
    int value = 0;
    MPI_Win window;
    MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (world.rank == 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    if (world.rank == 1) send(2, 0);
    if (world.rank == 2) receive(1, 0);
    if (world.rank == 2) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    if (world.rank == 1) compute(long_enough);
    if (world.rank == 1 || world.rank == 2) {
        MPI_Put(&world.rank, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_unlock(0, window);
    }
    if (world.rank == 2) send(3, 0);
    if (world.rank == 3) receive(2, 0);
    MPI_Win_free(&window);
}

void neighbours(const World& world)
{
    MPI_Comm line;
    const int size = world.size;
    const int once_round = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &once_round, 0, &line);
    const int out[2] = {1, 2};
    int in[2] = {};
    with_late_rank(world, [&] {
        MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, line);
        MPI_Request request;
        MPI_Ineighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, line, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
    MPI_Comm_free(&line);
}

/// Rank 0 waits for its only neighbour, which is late; the last rank, which is none, waits for rank 0.
void only_neighbours(const World& world)
{
    MPI_Comm line;
    const int size = world.size;
    const int once_round = 0;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &once_round, 0, &line);
    const int out[2] = {1, 2};
    int in[2] = {};
    if (world.rank == 1) compute(long_enough);
    if (world.rank == world.size - 1) receive(0, 1);
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, line);
    if (world.rank == 0) send(world.size - 1, 1);
    MPI_Comm_free(&line);
}

/// Two halves, a message and collectives from one to the other, and both as one.
void between_groups(const World& world)
{
    MPI_Comm half;
    MPI_Comm between;
    MPI_Comm both;
    const int side = world.rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, world.rank, &half);
    with_late_rank(world, [&] { MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 5, &between); });
    if (world.rank == 0) compute(long_enough);
    const int peer = world.rank / 2;
    if (side == 0) send(peer, 2, between);
    if (side == 1) receive(peer, 2, between);
    int value = 1;
    MPI_Bcast(&value, 1, MPI_INT, side == 1 ? 0 : world.rank == 0 ? MPI_ROOT : MPI_PROC_NULL, between);
    MPI_Intercomm_merge(between, side, &both);
    if (world.rank == 0) compute(long_enough);
    MPI_Barrier(both);
    for (MPI_Comm* one : {&half, &between, &both}) MPI_Comm_free(one);
}

/// Communicators made by some of the ranks, and by a request.
void made_by_some(const World& world)
{
    MPI_Group all;
    MPI_Group odd;
    MPI_Comm of_odd = MPI_COMM_NULL;
    MPI_Comm copy;
    const int range[1][3] = {{1, world.size - 1, 2}};
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_range_incl(all, 1, const_cast<int(*)[3]>(range), &odd);
    if (world.rank == 1) compute(long_enough);
    if (world.rank % 2 == 1) {
        MPI_Comm_create_group(MPI_COMM_WORLD, odd, 3, &of_odd);
        MPI_Barrier(of_odd);
        MPI_Comm_free(&of_odd);
    }
    MPI_Request request;
    with_late_rank(world, [&] {
        MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
        for (int done = 0; done == 0;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    });
    if (world.rank == 0) compute(long_enough);
    MPI_Ibarrier(copy, &request);
    for (int done = 0; done == 0;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
    MPI_Group_free(&all);
    MPI_Group_free(&odd);
}

void files(const World& world)
{
    MPI_File file;
    char name[] = "/tmp/watched-XXXXXX";
    if (world.rank == 0) close(mkstemp(name));
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    with_late_rank(world, [&] {
        MPI_File_write_at_all(file, world.rank * 4, &world.rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    });
    MPI_Request request;
    MPI_File_iwrite_at(file, world.rank * 4, &world.rank, 1, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

/// A matching probe that asks, and a receive of what it found; the sender is late.
void asked_and_matched(const World& world)
{
    int value = 0;
    MPI_Request request;
    if (world.rank == 0) {
        compute(long_enough);
        for (int to = 1; to < world.size; ++to) send(to, 4);
        return;
    }
    MPI_Message message;
    for (int found = 0; found == 0;)
        MPI_Improbe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// A receive that is cancelled, and another one that gets the message.
void cancelled_before(const World& world)
{
    int value = 0;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, world.previous(), 3, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world.rank == 0) compute(long_enough);
    if (world.rank == 0) send(world.next(), 3);
    receive(world.previous(), 3);
    if (world.rank != 0) send(world.next(), 3);
}

/// Rank 0's loop of questions ends by itself, and only then does it send what the others wait for.
void until_a_time(const World& world)
{
    int value = 0;
    MPI_Request request;
    if (world.rank != 0) {
        receive(0, 1);
        return;
    }
    MPI_Irecv(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &request);
    const double end = MPI_Wtime() + long_enough;
    for (int done = 0; done == 0 && MPI_Wtime() < end;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int to = 1; to < world.size; ++to) send(to, 1);
}

/// A request that the program itself completes.
void generalized(const World& world)
{
    static MPI_Request request;
    if (world.rank != 0) {
        receive(world.previous(), 1);
        if (world.next() != 0) send(world.next(), 1);
        return;
    }
    MPI_Grequest_start([](void*, MPI_Status* status) { return MPI_Status_set_elements(status, MPI_INT, 0); },
                       [](void*) { return MPI_SUCCESS; }, [](void*, int) { return MPI_SUCCESS; }, nullptr,
                       &request);
    const double end = MPI_Wtime() + long_enough;
    for (int done = 0; done == 0;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (MPI_Wtime() > end && done == 0) MPI_Grequest_complete(request);
    }
    send(1, 1);
}

/// A message that is too long for its receive is an error of that receive, and is gone.
void truncated(const World& world)
{
    int values[2] = {};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Request request;
    MPI_Send(values, 2, MPI_INT, world.next(), 1, MPI_COMM_WORLD);
    MPI_Recv(values, 1, MPI_INT, world.previous(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(values, 1, MPI_INT, world.previous(), 2, MPI_COMM_WORLD, &request);
    const int two[2] = {1, 2};
    MPI_Send(two, 2, MPI_INT, world.next(), 2, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// One thread of every rank receives while another computes and then sends.
void threads(const World& world)
{
    std::thread sender([&] {
        compute(long_enough);
        send(world.next(), 1);
    });
    receive(world.previous(), 1);
    sender.join();
}

}  // namespace

int main(int argc, char** argv)
{
    if (argc > 1 && std::string(argv[1]) == "threads") {
        int provided = 0;
        World world{};
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
        MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
        MPI_Comm_size(MPI_COMM_WORLD, &world.size);
        if (provided == MPI_THREAD_MULTIPLE) threads(world);
        MPI_Finalize();
        return 0;
    }
    return run_case(argc, argv,
                    {{"fences", fences},
                     {"locks", locks},
                     {"neighbours", neighbours},
                     {"only_neighbours", only_neighbours},
                     {"between_groups", between_groups},
                     {"made_by_some", made_by_some},
                     {"files", files},
                     {"asked_and_matched", asked_and_matched},
                     {"cancelled_before", cancelled_before},
                     {"until_a_time", until_a_time},
                     {"generalized", generalized},
                     {"truncated", truncated}});
}
