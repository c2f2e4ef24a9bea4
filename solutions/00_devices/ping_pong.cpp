#include "lessons/00_devices/messages.hpp"

using namespace devices;

double devices::ping_pong(Comm& comm, std::span<std::byte> message, int rounds)
{
    // BEGIN SOLUTION 00.2 ping_pong
    const Clock& clock = comm.device().clock();
    const Buffer buffer = buffer_of(message);
    if (comm.rank() > 1) return 0.0;
    const double begin = clock.now();
    for (int round = 0; round < rounds; ++round) {
        if (comm.rank() == 0) {
            comm.send(buffer, 1);
            comm.recv(buffer, 1);
        } else {
            comm.recv(buffer, 0);
            comm.send(buffer, 0);
        }
    }
    return (clock.now() - begin) / rounds;
    // END SOLUTION
}
