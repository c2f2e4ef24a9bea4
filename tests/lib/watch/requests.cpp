// Deadlocks of operations that were begun before they are waited for.
#include <unistd.h>

#include "tests/lib/watch/case.hpp"

namespace {

/// A receive from the rank before and one from the rank after, which nobody sends.
struct Neighbours {
    explicit Neighbours(const World& world)
    {
        MPI_Irecv(&values[0], 1, MPI_INT, world.previous(), 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&values[1], 1, MPI_INT, world.next(), 2, MPI_COMM_WORLD, &requests[1]);
    }
    int values[2] = {};
    MPI_Request requests[2] = {};
};

void wait(const World& world)
{
    Neighbours receives(world);
    MPI_Wait(&receives.requests[1], MPI_STATUS_IGNORE);
}

/// One of the two messages comes: waiting for all is a deadlock, waiting for any is not.
void waitall_half(const World& world)
{
    Neighbours receives(world);
    send(world.next(), 1);
    MPI_Waitall(2, receives.requests, MPI_STATUSES_IGNORE);
}

void waitany(const World& world)
{
    Neighbours receives(world);
    int index = 0;
    MPI_Waitany(2, receives.requests, &index, MPI_STATUS_IGNORE);
}

void waitsome(const World& world)
{
    Neighbours receives(world);
    int done = 0;
    int indices[2];
    MPI_Waitsome(2, receives.requests, &done, indices, MPI_STATUSES_IGNORE);
}

void test_loop(const World& world)
{
    Neighbours receives(world);
    for (int flag = 0; flag == 0;) MPI_Test(&receives.requests[0], &flag, MPI_STATUS_IGNORE);
}

void testall_loop(const World& world)
{
    Neighbours receives(world);
    send(world.next(), 1);
    for (int flag = 0; flag == 0;) MPI_Testall(2, receives.requests, &flag, MPI_STATUSES_IGNORE);
}

void testany_loop(const World& world)
{
    Neighbours receives(world);
    for (int flag = 0, index = 0; flag == 0;)
        MPI_Testany(2, receives.requests, &index, &flag, MPI_STATUS_IGNORE);
}

void testsome_loop(const World& world)
{
    Neighbours receives(world);
    int indices[2];
    for (int done = 0; done == 0;) MPI_Testsome(2, receives.requests, &done, indices, MPI_STATUSES_IGNORE);
}

/// Two questions in turn.
void two_tests(const World& world)
{
    Neighbours receives(world);
    for (int one = 0, other = 0; one == 0 && other == 0;) {
        MPI_Test(&receives.requests[0], &one, MPI_STATUS_IGNORE);
        MPI_Test(&receives.requests[1], &other, MPI_STATUS_IGNORE);
    }
}

void long_isend(const World& world)
{
    const auto message = long_message();
    MPI_Request request;
    MPI_Isend(message.data(), 1 << 20, MPI_DOUBLE, world.next(), 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void persistent(const World& world)
{
    int value = 0;
    MPI_Request request;
    MPI_Recv_init(&value, 1, MPI_INT, world.previous(), 3, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void persistent_second_time(const World& world)
{
    int in = 0;
    int out = 1;
    MPI_Request requests[2];
    MPI_Recv_init(&in, 1, MPI_INT, world.previous(), 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&out, 1, MPI_INT, world.next(), 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Startall(world.rank == 0 ? 1 : 2, requests);
    MPI_Waitall(world.rank == 0 ? 1 : 2, requests, MPI_STATUSES_IGNORE);
}

void leaked(const World& world)
{
    int value = 0;
    MPI_Request request;
    if (world.rank == 1) MPI_Irecv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
}

void unmatched(const World& world)
{
    if (world.rank == 0) send(1, 8);
    if (world.rank == 0) send(1, 8);
}

/// The message comes after its receive has been cancelled.
void cancelled_and_sent(const World& world)
{
    int value = 0;
    MPI_Request request;
    if (world.rank == 1) {
        MPI_Irecv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (world.rank == 0) send(1, 3);
}

void send_buffer_changed(const World& world)
{
    int value = 1;
    MPI_Request request;
    if (world.rank == 0) {
        MPI_Issend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        value = 2;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (world.rank == 1) receive(0, 0);
}

void receive_buffer_changed(const World& world)
{
    int value = 1;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, world.previous(), 0, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    value += 1;
    int flag = 0;
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    send(world.next(), 0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv)
{
    return run_case(argc, argv,
                    {{"wait", wait},
                     {"waitall_half", waitall_half},
                     {"waitany", waitany},
                     {"waitsome", waitsome},
                     {"test_loop", test_loop},
                     {"testall_loop", testall_loop},
                     {"testany_loop", testany_loop},
                     {"testsome_loop", testsome_loop},
                     {"two_tests", two_tests},
                     {"long_isend", long_isend},
                     {"persistent", persistent},
                     {"persistent_second_time", persistent_second_time},
                     {"leaked", leaked},
                     {"unmatched", unmatched},
                     {"cancelled_and_sent", cancelled_and_sent},
                     {"send_buffer_changed", send_buffer_changed},
                     {"receive_buffer_changed", receive_buffer_changed}});
}
