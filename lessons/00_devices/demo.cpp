// A sum around a ring, then ping-pong inside a node and between two: 4 devices on 2 nodes.
#include <fmt/core.h>

#include "lessons/00_devices/messages.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/machine/comm/session.hpp"

using namespace devices;

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        DeviceOptions options;
        options.rank = session.rank();
        options.topology = parse_topology("2x2");  // ranks 0 and 1 share a node, 2 and 3 the other
        Device device(options);
        Comm world = Comm::world(device);
        const auto say = [&](const std::string& line) {
            if (session.rank() == 0) fmt::print("{}\n", line);
        };

        const double sum = sum_around_the_ring(world, session.rank() + 1.0);
        say(fmt::format("1 + 2 + 3 + 4 around the ring: {} after {}", sum,
                        format_seconds(device.clock().now())));

        const Allocation memory = device.allocate(1'000'000, Category::communication);
        for (const int partner : {1, 2}) {
            const bool plays = session.rank() == 0 || session.rank() == partner;
            Comm pair = world.split(plays ? 0 : 1, session.rank());
            if (!plays) continue;
            const Link& link = device.topology().link(0, partner);
            say(fmt::format("\nranks 0 and {}   bytes   2(alpha + b beta)   on the clock", partner));
            for (const std::size_t bytes : {0, 1'000, 100'000, 1'000'000}) {
                const double predicted = 2.0 * link.seconds(static_cast<double>(bytes));
                const double round = ping_pong(pair, {memory.data(), bytes}, 1);
                say(fmt::format("{:>21}{:>17.3f} us{:>12.3f} us", bytes, 1e6 * predicted, 1e6 * round));
            }
            const LinkCost cost = measure_link(pair);
            say(fmt::format("alpha = {:.3f} us, beta = {:.3f} ns per kB", 1e6 * cost.alpha,
                            1e12 * cost.beta));
        }
        return 0;
    });
}
