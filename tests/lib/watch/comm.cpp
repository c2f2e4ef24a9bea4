// Deadlocks of programs written with the project's Comm.
#include <string_view>
#include <vector>

#include "tests/lib/ranks/world.hpp"

using namespace shardlings;

namespace {

[[gnu::noinline]] void receive_ring(Comm& comm)
{
    std::vector<float> values(4);
    comm.recv(buffer_of(std::span(values)), (comm.rank() + comm.size() - 1) % comm.size());
    comm.send(buffer_of(std::span(values)), (comm.rank() + 1) % comm.size());
}

[[gnu::noinline]] void barrier_of_all_but_one(Comm& comm)
{
    std::vector<float> values(4);
    if (comm.rank() == 1)
        comm.recv(buffer_of(std::span(values)), 0);
    else
        comm.barrier();
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [&](MpiSession& session) {
        ranks_test::World world(session);
        if (std::string_view(argv[1]) == "comm_receive_ring") receive_ring(world.comm);
        if (std::string_view(argv[1]) == "comm_barrier") barrier_of_all_but_one(world.comm);
        return 0;
    });
}
