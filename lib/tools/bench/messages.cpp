#include "lib/tools/bench/messages.hpp"

#include <mpi.h>

#include <algorithm>
#include <vector>

#include "lib/machine/base/error.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/machine/comm/comm.hpp"

namespace shardlings {

namespace {

/// Seconds of one round trip through Comm.
double through_comm(Comm& comm, Buffer message, int count)
{
    const int peer = 1 - comm.rank();
    comm.barrier();
    const double begin = MPI_Wtime();
    for (int i = 0; i < count; ++i) {
        if (comm.rank() == 0) comm.send(message, peer);
        comm.recv(message, peer);
        if (comm.rank() == 1) comm.send(message, peer);
    }
    return (MPI_Wtime() - begin) / count;
}

/// The same with MPI's own calls.
double through_mpi(Comm& comm, Buffer message, int count)
{
    const int peer = 1 - comm.rank();
    const auto bytes = static_cast<int>(message.bytes());
    comm.barrier();
    const double begin = MPI_Wtime();
    for (int i = 0; i < count; ++i) {
        if (comm.rank() == 0) MPI_Send(message.data, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        MPI_Recv(message.data, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (comm.rank() == 1) MPI_Send(message.data, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - begin) / count;
}

}  // namespace

void bench_messages(MpiSession& session, int rounds)
{
    check(session.size() == 2, "the message benchmark runs on 2 ranks, not {}", session.size());
    DeviceOptions options;
    options.rank = session.rank();
    options.topology.devices_per_node = 2;
    Device device(options);
    Comm comm = Comm::world(device);
    if (comm.rank() == 0) fmt::print("{:>10}  {:>12}  {:>12}  ratio\n", "message", "Comm", "MPI");
    for (const std::size_t bytes : {8u, 1024u, 65536u, 262144u, 1048576u, 4194304u}) {
        std::vector<std::byte> storage(bytes);
        const Buffer message = buffer_of(std::span(storage));
        const int count = std::clamp(static_cast<int>(1e8 / (2e4 + static_cast<double>(bytes))), 10, 4000);
        double comm_best = 1e30;
        double mpi_best = 1e30;
        for (int round = 0; round < rounds; ++round) {
            comm_best = std::min(comm_best, through_comm(comm, message, count));
            mpi_best = std::min(mpi_best, through_mpi(comm, message, count));
        }
        if (comm.rank() == 0)
            fmt::print("{:>10}  {:>12}  {:>12}  {:.3f}\n", format_bytes(bytes), format_seconds(comm_best),
                       format_seconds(mpi_best), comm_best / mpi_best);
    }
}

}  // namespace shardlings
