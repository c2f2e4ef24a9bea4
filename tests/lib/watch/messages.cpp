// Deadlocks of messages between two ranks at a time.
#include <unistd.h>

#include "tests/lib/watch/case.hpp"

namespace {

void receive_ring(const World& world)
{
    receive(world.previous(), 7);
    send(world.next(), 7);
}

void long_send_ring(const World& world)
{
    auto message = long_message();
    MPI_Send(message.data(), 1 << 20, MPI_DOUBLE, world.next(), 0, MPI_COMM_WORLD);
    MPI_Recv(message.data(), 1 << 20, MPI_DOUBLE, world.previous(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void short_send_ring(const World& world)
{
    send(world.next(), 0);
    receive(world.previous(), 0);
}

void wrong_tag(const World& world)
{
    if (world.rank == 0) send(1, 8);
    if (world.rank == 1) receive(0, 7);
}

void from_oneself(const World& world)
{
    if (world.rank == 1) receive(1, 0);
}

void any_source(const World& world)
{
    int value = 0;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    send(world.next(), 0);
}

void one_message_too_few(const World& world)
{
    if (world.rank == 0)
        for (int i = 1; i < world.size; ++i) send(i, 3);
    if (world.rank > 0) receive(0, 3);
    if (world.rank > 0) receive(0, 3);
}

void sendrecv_wrong_tag(const World& world)
{
    int out = 1;
    int in = 0;
    MPI_Sendrecv(&out, 1, MPI_INT, world.next(), 1, &in, 1, MPI_INT, world.previous(), 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

void probe(const World& world)
{
    MPI_Probe(world.previous(), 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    send(world.next(), 4);
}

void iprobe_loop(const World& world)
{
    for (int found = 0; found == 0;)
        MPI_Iprobe(world.previous(), 4, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    send(world.next(), 4);
}

void iprobe_all(const World& world)
{
    for (int found = 0, from = 0; found == 0; from = (from + 1) % world.size)
        MPI_Iprobe(from, 4, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

/// Ranks 0 and 1 wait for each other, the others compute.
void among_some(const World& world)
{
    if (world.rank < 2)
        receive(1 - world.rank, 5);
    else
        compute(60.0);
}

void peer_at_finalize(const World& world)
{
    if (world.rank == 1) receive(0, 6);
}

void in_a_half(const World& world)
{
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, world.rank % 2, world.rank, &half);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &size);
    receive((rank + 1) % size, 9, half);
    MPI_Comm_free(&half);
}

/// The message is there, but on another communicator.
void other_communicator(const World& world)
{
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (world.rank == 0) send(1, 7, copy);
    if (world.rank == 1) receive(0, 7);
    MPI_Comm_free(&copy);
}

/// A receive that was posted before takes the only message.
void taken_before(const World& world)
{
    int value[2] = {};
    MPI_Request request;
    if (world.rank == 0) send(1, 0);
    if (world.rank == 1) {
        MPI_Irecv(&value[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        receive(0, 0);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

void matched_probe(const World& world)
{
    MPI_Message message;
    MPI_Mprobe(world.previous(), 4, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
}

void synchronous_send(const World& world)
{
    int value = 0;
    MPI_Ssend(&value, 1, MPI_INT, world.next(), 0, MPI_COMM_WORLD);
}

void sleeping_poll(const World& world)
{
    for (int found = 0; found == 0; usleep(1000))
        MPI_Iprobe(world.previous(), 4, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

void on_idup(const World& world)
{
    MPI_Comm copy;
    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (world.rank == 1) receive(0, 5, copy);
}

/// Two communicators that the same ranks made: the message is on the other one.
void other_of_two(const World& world)
{
    MPI_Comm made[2];
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (MPI_Comm& one : made) MPI_Comm_create_group(MPI_COMM_WORLD, all, 3, &one);
    if (world.rank == 0) send(1, 2, made[0]);
    if (world.rank == 1) receive(0, 2, made[1]);
}

}  // namespace

int main(int argc, char** argv)
{
    return run_case(argc, argv,
                    {{"receive_ring", receive_ring},
                     {"long_send_ring", long_send_ring},
                     {"short_send_ring", short_send_ring},
                     {"wrong_tag", wrong_tag},
                     {"from_oneself", from_oneself},
                     {"any_source", any_source},
                     {"one_message_too_few", one_message_too_few},
                     {"sendrecv_wrong_tag", sendrecv_wrong_tag},
                     {"probe", probe},
                     {"iprobe_loop", iprobe_loop},
                     {"iprobe_all", iprobe_all},
                     {"among_some", among_some},
                     {"peer_at_finalize", peer_at_finalize},
                     {"in_a_half", in_a_half},
                     {"other_communicator", other_communicator},
                     {"other_of_two", other_of_two},
                     {"on_idup", on_idup},
                     {"taken_before", taken_before},
                     {"matched_probe", matched_probe},
                     {"synchronous_send", synchronous_send},
                     {"sleeping_poll", sleeping_poll}});
}
