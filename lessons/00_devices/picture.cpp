// The lesson's picture: a sum around the ring of 4 devices on 2 nodes; 100 kB of ping-pong inside a node and
// between two; the same 100 kB sent before computing, and while computing.  picture FILE.svg
#include "lessons/00_devices/messages.hpp"
#include "lib/machine/comm/session.hpp"
#include "lib/tools/trace/collect.hpp"

using namespace devices;

namespace {

void compute(Device& device, double seconds)
{
    const double begin = device.clock().now();
    device.compute(seconds * device.topology().flops);
    device.record({"compute", "compute", begin, device.clock().now(), seconds * device.topology().flops});
}

/// Rank 0 sends to rank 1, and both compute for 6 µs: after the message, then beside it.
void send_and_compute(Comm& pair, const Allocation& message)
{
    const Buffer buffer{message.data(), static_cast<std::int64_t>(message.bytes()), DType::byte};
    for (const bool overlapped : {false, true}) {
        Request request = pair.rank() == 0 ? pair.isend(buffer, 1) : pair.irecv(buffer, 0);
        if (!overlapped) request.wait();
        compute(pair.device(), 6e-6);
        request.wait();
    }
}

int draw(MpiSession& session, const std::string& path)
{
    DeviceOptions options;
    options.rank = session.rank();
    options.topology = parse_topology("2x2");  // ranks 0 and 1 share a node, 2 and 3 the other
    options.record = true;
    Device device(options);
    Comm world = Comm::world(device);
    sum_around_the_ring(world, 1.0);
    for (const int partner : {1, 2}) {
        const bool plays = world.rank() == 0 || world.rank() == partner;
        Comm pair = world.split(plays ? 0 : 1, world.rank());
        if (!plays) continue;
        const Allocation message = device.allocate(100'000, Category::communication);
        ping_pong(pair, {message.data(), message.bytes()}, 1);
        if (partner == 2) send_and_compute(pair, message);
    }
    const std::vector<RankTrace> traces = collect_traces(world);
    if (world.rank() == 0)
        write_svg_timeline(path, traces,
                           {.title = "A ring of 4 devices, ping-pong inside and between nodes, overlap"});
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [&](MpiSession& session) {
        check(argc == 2, "usage: {} FILE.svg", argv[0]);
        return draw(session, argv[1]);
    });
}
