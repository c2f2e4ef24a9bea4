// Buffers that the program uses while a request has them, and ones that it only seems to.
#include <sys/mman.h>

#include <numeric>

#include "tests/lib/watch/case.hpp"

namespace {

constexpr int count = 1 << 18;

void need(bool right, const char* what)
{
    if (right) return;
    std::fprintf(stderr, "wrong: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/// A column of a square matrix of doubles.
MPI_Datatype column(int size)
{
    MPI_Datatype type;
    MPI_Type_vector(size, 1, size, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

/// A message that comes in many parts: the change is the program's all the same.
void long_receive(const World& world)
{
    std::vector<double> in(count);
    const std::vector<double> out(count, 2.0);
    MPI_Request request;
    MPI_Irecv(in.data(), count, MPI_DOUBLE, world.previous(), 1, MPI_COMM_WORLD, &request);
    if (world.rank == 1) in[count / 2] += 1.0;
    MPI_Send(out.data(), count, MPI_DOUBLE, world.next(), 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    need(in[count / 2] == 2.0, "the message");
}

/// The message has come, but the request is not complete before it is waited for.
void after_arrival(const World& world)
{
    int value = 0;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, world.previous(), 1, MPI_COMM_WORLD, &request);
    send(world.next(), 1);
    for (int i = 0; i < 3; ++i) MPI_Barrier(MPI_COMM_WORLD);
    if (world.rank == 1) value += 1;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// `at` is in the column, or beside it.
void receive_column(const World& world, int at)
{
    std::vector<double> matrix(100);
    MPI_Datatype type = column(10);
    MPI_Request request;
    MPI_Irecv(matrix.data(), 1, type, world.previous(), 1, MPI_COMM_WORLD, &request);
    MPI_Type_free(&type);
    if (world.rank == 1) matrix[static_cast<std::size_t>(at)] = 7.0;
    const std::vector<double> out(10, 1.0);
    MPI_Send(out.data(), 10, MPI_DOUBLE, world.next(), 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    need(matrix[30] == 1.0, "the column");
    need(at == 30 || world.rank != 1 || matrix[static_cast<std::size_t>(at)] == 7.0, "beside the column");
}

void received_column(const World& world)
{
    receive_column(world, 30);
}

void beside_column(const World& world)
{
    receive_column(world, 31);
}

void sent_column(const World& world)
{
    std::vector<double> matrix(100), in(10);
    MPI_Datatype type = column(10);
    MPI_Request request;
    MPI_Issend(matrix.data(), 1, type, world.next(), 1, MPI_COMM_WORLD, &request);
    if (world.rank == 1) matrix[90] = 1.0;
    MPI_Recv(in.data(), 10, MPI_DOUBLE, world.previous(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
}

/// In the second of three rounds.
void persistent_receive(const World& world)
{
    std::vector<double> in(count), out(count);
    MPI_Request request;
    MPI_Recv_init(in.data(), count, MPI_DOUBLE, world.previous(), 1, MPI_COMM_WORLD, &request);
    for (int round = 0; round < 3; ++round) {
        out.back() = round + 1;
        MPI_Start(&request);
        if (world.rank == 1 && round == 1) in[0] = -1.0;
        MPI_Send(out.data(), count, MPI_DOUBLE, world.next(), 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        need(in.back() == round + 1 && in[0] == 0.0, "a round");
        in.back() = 0.0;
    }
    MPI_Request_free(&request);
}

void matched_receive(const World& world)
{
    int value = 0;
    MPI_Message message;
    MPI_Request request;
    send(world.next(), 1);
    MPI_Mprobe(world.previous(), 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
    if (world.rank == 1) value += 3;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    need(value == 1, "the matched message");
}

/// Short sends, complete at once, whose requests may be one and the same.
void short_sends(const World& world, bool early)
{
    int values[3] = {1, 2, 3};
    MPI_Request requests[3];
    for (int i = 0; i < 3; ++i)
        MPI_Isend(&values[i], 1, MPI_INT, world.next(), i, MPI_COMM_WORLD, &requests[i]);
    std::swap(requests[0], requests[2]);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    values[early && world.rank == 1 ? 1 : 0] = 9;
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; ++i) receive(world.previous(), i);
}

void short_send(const World& world)
{
    short_sends(world, true);
}

void freed_send(const World& world)
{
    void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI_Request request;
    MPI_Isend(page, 1, MPI_INT, world.next(), 1, MPI_COMM_WORLD, &request);
    receive(world.previous(), 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world.rank == 1) munmap(page, 4096);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// Two columns of one matrix, a message shorter than its buffer, and receives into one place.
void halos(const World& world)
{
    std::vector<double> matrix(100);
    std::iota(matrix.begin(), matrix.end(), 0.0);
    MPI_Datatype type = column(10);
    MPI_Request requests[4];
    MPI_Irecv(&matrix[0], 1, type, world.previous(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&matrix[9], 1, type, world.next(), 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&matrix[1], 1, type, world.previous(), 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&matrix[8], 1, type, world.next(), 1, MPI_COMM_WORLD, &requests[3]);
    matrix[44] = -1.0;
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    need(matrix[20] == 28.0 && matrix[29] == 21.0 && matrix[44] == -1.0, "the halos");
    MPI_Type_free(&type);
    double out = 5.0;
    MPI_Irecv(matrix.data(), 100, MPI_DOUBLE, world.previous(), 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(&out, 1, MPI_DOUBLE, world.next(), 3, MPI_COMM_WORLD);
    MPI_Status status;
    int length = 0;
    MPI_Wait(&requests[0], &status);
    MPI_Get_count(&status, MPI_DOUBLE, &length);
    need(length == 1 && matrix[0] == 5.0 && matrix[44] == -1.0, "the rest of the buffer");
    int none = 0;
    for (int i = 0; i < 4; ++i)
        MPI_Irecv(&none, 1, MPI_INT, world.previous(), 4, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 4; ++i) send(world.next(), 4);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/// Requests that end otherwise than by being waited for.
void other_ends(const World& world)
{
    int freed = 0;
    int asked = 0;
    int cancelled = 8;
    MPI_Request request;
    MPI_Irecv(&freed, 1, MPI_INT, world.previous(), 1, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Ssend(&world.size, 1, MPI_INT, world.next(), 1, MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i) MPI_Barrier(MPI_COMM_WORLD);
    need(freed == world.size, "the receive of a freed request");
    MPI_Irecv(&asked, 1, MPI_INT, world.previous(), 2, MPI_COMM_WORLD, &request);
    send(world.next(), 2);
    for (int done = 0; done == 0;) MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
    need(asked == 1, "a request that is complete and stays");
    asked = 4;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    need(asked == 4, "what was written after completion");
    MPI_Irecv(&cancelled, 1, MPI_INT, world.previous(), 3, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(&cancelled, 1, MPI_INT, world.previous(), 3, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    need(cancelled == 8, "the buffer of a cancelled receive");
    MPI_Barrier(MPI_COMM_WORLD);
}

/// A receive into two places that only the type knows.
void absolute(const World& world, int* one, int* other)
{
    const int lengths[2] = {1, 1};
    MPI_Aint places[2];
    const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Datatype type;
    MPI_Request request;
    MPI_Get_address(one, &places[0]);
    MPI_Get_address(other, &places[1]);
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Irecv(MPI_BOTTOM, 1, type, world.previous(), 5, MPI_COMM_WORLD, &request);
    const int two[2] = {6, 7};
    MPI_Send(two, 2, MPI_INT, world.next(), 5, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    need(*one == 6 && *other == 7, "absolute addresses");
    MPI_Type_free(&type);
}

/// Absolute addresses, a communicator between groups, a long message in a loop of questions, and requests
/// that change places.
void of_all_kinds(const World& world)
{
    halos(world);
    other_ends(world);
    short_sends(world, false);
    int apart[3] = {};
    auto other = std::vector<int>(1);
    absolute(world, &apart[0], &apart[2]);
    absolute(world, &apart[0], other.data());  // too far from each other for a copy of what is between
    MPI_Comm half;
    MPI_Comm between;
    const int side = world.rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, world.rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 5, &between);
    std::vector<double> in(count);
    const std::vector<double> out(count, 3.0);
    MPI_Request both[2];
    MPI_Irecv(in.data(), count, MPI_DOUBLE, world.rank / 2, 6, between, &both[0]);
    MPI_Isend(out.data(), count, MPI_DOUBLE, world.rank / 2, 6, between, &both[1]);
    int indices[2];
    for (int all = 0, done = 0; all < 2; all += done)
        MPI_Testsome(2, both, &done, indices, MPI_STATUSES_IGNORE);
    need(in.back() == 3.0, "a message between groups");
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

}  // namespace

int main(int argc, char** argv)
{
    return run_case(argc, argv,
                    {{"long_receive", long_receive},
                     {"after_arrival", after_arrival},
                     {"received_column", received_column},
                     {"beside_column", beside_column},
                     {"sent_column", sent_column},
                     {"persistent_receive", persistent_receive},
                     {"matched_receive", matched_receive},
                     {"short_send", short_send},
                     {"freed_send", freed_send},
                     {"of_all_kinds", of_all_kinds}});
}
