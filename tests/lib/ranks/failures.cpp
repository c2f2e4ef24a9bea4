// What must end the whole job, on as many ranks as it was started with: failures SCENARIO. Judged by
// failures_test.cpp.
#include <map>

#include "tests/lib/ranks/world.hpp"

using namespace shardlings;
using namespace ranks_test;

namespace {

/// Rank 0 sends `sent`, rank 1 asks for `asked`.
void mismatch(MpiSession& session, ConstBuffer sent, Buffer asked)
{
    World world(session);
    if (world.comm.rank() == 0)
        world.comm.send(sent, 1, 5);
    else
        world.comm.recv(asked, 0, 5);
    world.comm.barrier();
}

Buffer buffer_on(std::vector<std::byte>& bytes, DType dtype)
{
    return {bytes.data(), static_cast<std::int64_t>(bytes.size() / size_of(dtype)), dtype};
}

void other_dtype(MpiSession& session)
{
    std::vector<std::byte> sent(32);
    std::vector<std::byte> asked(32);
    mismatch(session, buffer_on(sent, DType::bf16), buffer_on(asked, DType::fp16));
}

void too_long(MpiSession& session)
{
    std::vector<std::byte> sent(800'000);
    std::vector<std::byte> asked(80);
    mismatch(session, buffer_on(sent, DType::fp64), buffer_on(asked, DType::fp64));
}

void too_short(MpiSession& session)
{
    std::vector<std::byte> sent(40);
    std::vector<std::byte> asked(80);
    mismatch(session, buffer_on(sent, DType::fp64), buffer_on(asked, DType::fp64));
}

void forgotten_request(MpiSession& session)
{
    World world(session);
    std::vector<std::byte> message(8);
    if (world.comm.rank() == 0) {
        const Request forgotten = world.comm.isend(buffer_of(std::span(message)), 1);
    }
    world.comm.barrier();
}

/// Ranks up to `failing` ask for more than their budget, the others wait for a message from them.
void out_of_memory(MpiSession& session, int failing)
{
    DeviceOptions options;
    options.rank = session.rank();
    options.budget = 1 << 20;
    options.topology.devices_per_node = session.size();
    Device device(options);
    Comm comm = Comm::world(device);
    const Allocation weights = device.allocate(700'000, Category::parameters);
    if (comm.rank() < failing) {
        const Allocation gradients = device.allocate(700'000, Category::gradients);
    }
    std::byte byte{};
    comm.recv({&byte, 1, DType::byte}, 0);
}

void out_of_memory_on_one(MpiSession& session)
{
    out_of_memory(session, 1);
}

void out_of_memory_on_all(MpiSession& session)
{
    out_of_memory(session, session.size());
}

}  // namespace

int main(int argc, char** argv)
{
    const std::map<std::string, void (*)(MpiSession&)> scenarios{
        {"other_dtype", other_dtype},
        {"too_long", too_long},
        {"too_short", too_short},
        {"forgotten_request", forgotten_request},
        {"out_of_memory_on_one", out_of_memory_on_one},
        {"out_of_memory_on_all", out_of_memory_on_all}};
    return run_rank(argc, argv, [&](MpiSession& session) {
        check(argc == 2, "usage: {} SCENARIO", argv[0]);
        scenarios.at(argv[1])(session);
        return 0;
    });
}
