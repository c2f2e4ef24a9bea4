// The ring all-reduce alone: 8 devices sum 7.5 million gradients each.
#include <fmt/core.h>

#include <algorithm>

#include "lessons/03_collectives/ring.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/machine/comm/session.hpp"
#include "lib/machine/tensor/tensor.hpp"

using namespace collectives;

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        DeviceOptions options;
        options.rank = session.rank();
        options.topology.devices_per_node = session.size();
        Device device(options);
        Comm comm = Comm::world(device);
        // BEGIN all_reduce
        Tensor gradients(device, {7'500'000}, DType::fp32, Category::gradients);
        std::ranges::fill(gradients.span<float>(), static_cast<float>(comm.rank() + 1));
        ring_all_reduce(comm, gradients.buffer());  // 1 + 2 + … + p in every element, on every device
        // END all_reduce
        if (comm.rank() != 0) return 0;
        fmt::print("{} in every element after {}\n", gradients.span<float>()[0],
                   format_seconds(device.clock().now()));
        fmt::print("sent by rank 0: {} messages, {} bytes, to {} rank\n", device.traffic().total.messages,
                   device.traffic().total.bytes, device.traffic().to.size());
        const std::size_t chunk = gradients.bytes() / static_cast<std::size_t>(comm.size());
        check(device.memory().peak_of(Category::communication) <= chunk, "more memory than one chunk");
        fmt::print("memory beside the {} bytes of gradients: at most one chunk, {} bytes\n",
                   gradients.bytes(), chunk);
        return 0;
    });
}
