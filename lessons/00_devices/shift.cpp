// Every device hands its number to the right and takes one from the left, all at once.
#include <fmt/core.h>

#include "lib/machine/comm/comm.hpp"
#include "lib/machine/comm/session.hpp"

using namespace shardlings;

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        DeviceOptions options;
        options.rank = session.rank();
        options.topology.devices_per_node = session.size();
        Device device(options);
        Comm comm = Comm::world(device);
        // BEGIN shift
        const int p = comm.size();
        const int right = (comm.rank() + 1) % p;
        const int left = (comm.rank() + p - 1) % p;
        const double mine = 10.0 * comm.rank();
        double taken = -1.0;
        comm.sendrecv(buffer_of(std::span<const double>(&mine, 1)), right,  // to the right
                      buffer_of(std::span<double>(&taken, 1)), left);       // from the left
        // END shift
        if (comm.rank() > 0) {
            comm.send(buffer_of(std::span<const double>(&taken, 1)), 0, 1);
            return 0;
        }
        fmt::print("rank 0 had 0 and took {}\n", taken);
        for (int rank = 1; rank < p; ++rank) {
            comm.recv(buffer_of(std::span<double>(&taken, 1)), rank, 1);
            fmt::print("rank {} had {} and took {}\n", rank, 10 * rank, taken);
        }
        return 0;
    });
}
