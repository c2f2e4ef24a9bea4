// Programs with nothing wrong in them, of which nothing may be said.
#include <unistd.h>

#include <chrono>

#include "tests/lib/watch/case.hpp"

namespace {

void ring(const World& world)
{
    for (int round = 0; round < 20; ++round) {
        if (world.rank == 0) send(world.next(), round);
        receive(world.previous(), round);
        if (world.rank != 0) send(world.next(), round);
    }
}

/// Everybody waits for rank 0, which computes for longer than any wait is let be.
void slow_rank(const World& world)
{
    if (world.rank == 0) {
        compute(2.0);
        for (int to = 1; to < world.size; ++to) send(to, 0);
    } else {
        receive(0, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/// A rank that computes and asks now and then is at work, though what it asks for comes only from who waits
/// for it.
void computes_and_asks(const World& world)
{
    int value = 0;
    int flag = 0;
    MPI_Request request;
    if (world.rank == 0) {
        MPI_Irecv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        for (int i = 0; i < 1500 && flag == 0; ++i) {
            // Not by MPI_Wtime: a loop that calls it is no wait however it goes on.
            const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
            while (std::chrono::steady_clock::now() < end) {
            }
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        }
        send(1, 1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (world.rank == 1) {
        receive(0, 1);
        send(0, 0);
    }
}

void slow_master(const World& world)
{
    int value = 0;
    MPI_Status status;
    if (world.rank != 0) {
        compute(0.2 * world.rank);
        send(0, world.rank);
        receive(0, 0);
        return;
    }
    for (int i = 1; i < world.size; ++i) {
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        send(status.MPI_SOURCE, 0);
    }
}

/// Halos with neighbours that are not there, in requests of every kind.
void halo(const World& world)
{
    std::vector<double> left(5000), right(5000), out(5000);
    const int before = world.rank == 0 ? MPI_PROC_NULL : world.rank - 1;
    const int after = world.rank + 1 == world.size ? MPI_PROC_NULL : world.rank + 1;
    for (int round = 0; round < 30; ++round) {
        MPI_Request requests[4];
        MPI_Irecv(left.data(), 5000, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(right.data(), 5000, MPI_DOUBLE, after, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(out.data(), 5000, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(out.data(), 5000, MPI_DOUBLE, after, 0, MPI_COMM_WORLD, &requests[3]);
        for (int done = 0, index = 0; round % 2 == 0 && done < 4; ++done)
            MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
}

/// More tags than a record has places for.
void many_tags(const World& world)
{
    for (int tag = 0; tag < 9000; ++tag) {
        if (world.rank == 0) send(1, tag);
        if (world.rank == 1) receive(0, tag);
    }
    if (world.rank == 0) compute(1.0);
    if (world.rank == 0) send(1, 9001);
    if (world.rank == 1) receive(0, 9001);
}

/// More requests than a record has places for, and sends that share a handle.
void many_requests(const World& world)
{
    std::vector<MPI_Request> requests(6000);
    std::vector<int> values(requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i)
        if (world.rank % 2 == 0)
            MPI_Isend(&values[i], 1, MPI_INT, world.rank ^ 1, 0, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(&values[i], 1, MPI_INT, world.rank ^ 1, 0, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void communicators(const World& world)
{
    for (int round = 0; round < 600 / world.size; ++round) {
        MPI_Comm part;
        MPI_Comm_split(MPI_COMM_WORLD, (world.rank + round) % 2, world.rank, &part);
        MPI_Barrier(part);
        MPI_Comm_free(&part);
    }
}

/// Made by two ranks each, of which one has made more of them than the other.
void communicators_of_pairs(const World& world)
{
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int first = 0; first + 1 < world.size; ++first) {
        if (world.rank != first && world.rank != first + 1) continue;
        const int ranks[2] = {first, first + 1};
        MPI_Group two;
        MPI_Comm pair;
        MPI_Group_incl(all, 2, ranks, &two);
        MPI_Comm_create_group(MPI_COMM_WORLD, two, first, &pair);
        if (world.rank == first) send(1, 1, pair);
        if (world.rank == first + 1) receive(0, 1, pair);
        MPI_Comm_free(&pair);
        MPI_Group_free(&two);
    }
    MPI_Group_free(&all);
}

/// A collective that rank 0 alone begins, with an argument that makes it fail, is none of the others' ones.
void failed_on_one(const World& world)
{
    MPI_Comm all;
    int value = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    if (world.rank == 0) MPI_Bcast(&value, 1, MPI_INT, -5, all);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world.rank == 0) compute(1.0);
    MPI_Barrier(all);
    MPI_Comm_free(&all);
}

/// Rank 0 has done its part on a communicator, and has freed so many since that its record has no more of it.
void left_and_forgotten(const World& world)
{
    MPI_Comm all;
    int one = 1;
    int sum = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    if (world.rank == 2) sleep(2);
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 1, all);
    MPI_Comm_free(&all);
    for (int i = 0; world.rank == 0 && i < 600; ++i) {
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_SELF, &copy);
        MPI_Comm_free(&copy);
    }
}

void persistent(const World& world)
{
    int in = 0;
    int out = 1;
    MPI_Request requests[2];
    MPI_Recv_init(&in, 1, MPI_INT, world.previous(), 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&out, 1, MPI_INT, world.next(), 3, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 50; ++round) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

void cancelled(const World& world)
{
    int value = 0;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, world.previous(), 3, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void matched_probe(const World& world)
{
    int value = 0;
    MPI_Message message;
    MPI_Request request;
    int out = 1;
    MPI_Isend(&out, 1, MPI_INT, world.next(), 2, MPI_COMM_WORLD, &request);
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void sleeper(const World& world)
{
    if (world.rank == 0) sleep(2);
    MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv)
{
    return run_case(argc, argv,
                    {{"ring", ring},
                     {"slow_rank", slow_rank},
                     {"computes_and_asks", computes_and_asks},
                     {"slow_master", slow_master},
                     {"halo", halo},
                     {"many_tags", many_tags},
                     {"many_requests", many_requests},
                     {"communicators", communicators},
                     {"communicators_of_pairs", communicators_of_pairs},
                     {"failed_on_one", failed_on_one},
                     {"left_and_forgotten", left_and_forgotten},
                     {"persistent", persistent},
                     {"cancelled", cancelled},
                     {"matched_probe", matched_probe},
                     {"sleeper", sleeper}});
}
