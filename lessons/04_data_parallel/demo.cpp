// An all-reduce of 1 MB on 4 devices, and 400 us of computing that does not need its result: first one after
// the other, then beside each other.
#include "lessons/03_collectives/ring.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/machine/comm/session.hpp"
#include "lib/machine/tensor/tensor.hpp"

using namespace shardlings;

namespace {

void show(Comm& comm, bool overlap)
{
    Device& device = comm.device();
    Tensor gradients(device, {250'000}, DType::fp32, Category::gradients);
    gradients.fill_zero();
    const double begin = device.clock().now();
    // BEGIN beside
    double done = 0.0;
    {
        const OnStream stream(device, overlap ? Stream::communication : Stream::compute);
        collectives::ring_all_reduce(comm, gradients.buffer());
        done = device.clock().now();  // of the stream
    }
    device.compute(400e-6 * device.topology().flops);  // goes on without `gradients`
    const double computed = device.clock().now();
    device.clock().wait_until(done);  // from here on `gradients` may be read
    // END beside
    if (comm.rank() == 0)
        fmt::print("{:<18} all-reduce done after {}, computing after {}, both after {}\n",
                   overlap ? "beside each other:" : "one after another:", format_seconds(done - begin),
                   format_seconds(computed - begin), format_seconds(device.clock().now() - begin));
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        DeviceOptions options{.rank = session.rank(), .topology = {.nodes = 4}};  // a device each
        Device device(options);
        Comm world = Comm::world(device);
        for (const bool overlap : {false, true}) show(world, overlap);
        return 0;
    });
}
