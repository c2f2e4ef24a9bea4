// Our virtual time and SimGrid's simulated time of one run: times RUN PROTOCOL.
#include <fmt/format.h>
#include <mpi.h>

#include <simgrid/s4u.hpp>

#include "lessons/03_collectives/ring.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/machine/comm/comm.hpp"
#include "lib/machine/comm/session.hpp"
#include "lib/machine/comm/simulated.hpp"
#include "lib/tools/data/batch.hpp"
#include "lib/tools/simgrid/simulate.hpp"
#include "lib/tools/train/trainer.hpp"

using namespace shardlings;

namespace {

/// A step of `options`, or, of as many devices, a ring all-reduce of `elements` fp32 numbers.
struct Run {
    TrainOptions options;
    std::int64_t elements = 0;
};

Run ring()
{
    Run run;
    run.options.layout.dp = 16;
    run.options.topology = {2, 8};
    run.elements = std::int64_t{1} << 20;
    return run;
}

/// A model that is small, on devices as much slower, so that computing and messages both show.
Run training(const Layout& layout, int nodes, int devices_per_node)
{
    Run run;
    TrainOptions& o = run.options;
    o.layout = layout;
    o.shape.layers = 8;
    o.shape.hidden = 64;
    o.shape.heads = 4;
    o.shape.sequence = 32;
    o.batch = 16;
    o.micro_batches = 8;
    o.overlap = false;  // SimGrid's rank does one thing at a time
    o.topology.nodes = nodes;
    o.topology.devices_per_node = devices_per_node;
    o.topology.flops = 1e12;
    return run;
}

Run find_run(const std::string& what)
{
    if (what == "ring") return ring();
    Layout layout;
    layout.schedule = "1f1b";
    layout.pp = 4;
    if (what == "pipeline") return training(layout, 4, 1);
    check(what == "3d", "'{}' is no run: expected ring, pipeline or 3d", what);
    layout.dp = 2;
    layout.tp = 4;
    layout.zero = 1;
    return training(layout, 4, 8);
}

std::vector<std::string> settings_of(const std::string& protocol)
{
    const auto protocol_at = [](int bytes) {
        return std::vector<std::string>{"network/model:CM02", "network/crosstraffic:no",
                                        fmt::format("smpi/async-small-thresh:{}", bytes),
                                        fmt::format("smpi/send-is-detached-thresh:{}", bytes)};
    };
    if (protocol == "eager") return protocol_at(1'000'000'000);
    if (protocol == "rendezvous") return protocol_at(0);
    check(protocol == "measured", "'{}' is no protocol: expected eager, rendezvous or measured", protocol);
    return {"network/model:SMPI"};
}

/// All ranks go on at the same simulated time, which is returned.
double start_together()
{
    double start = MPI_Wtime();
    MPI_Allreduce(MPI_IN_PLACE, &start, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    start += 1.0;
    simgrid::s4u::this_actor::sleep_until(start);
    return start;
}

/// The time of the last device: {ours, SimGrid's}.
struct Times {
    double ours;
    double simulated;
};

template <class Work>
Times measure(Device& device, Work work)
{
    const double virtual_start = device.clock().now();
    const double start = start_together();
    work();
    spend_computed_time(device);
    Times last{device.clock().now() - virtual_start, MPI_Wtime() - start};
    MPI_Allreduce(MPI_IN_PLACE, &last, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return last;
}

Times run_on_rank(const Run& run, const MpiSession& session)
{
    DeviceOptions options;
    options.rank = session.rank();
    options.topology = run.options.topology;
    Device device(options);
    Comm world = Comm::world(device);
    if (run.elements > 0) {
        std::vector<float> values(static_cast<std::size_t>(run.elements), 1.0F);
        return measure(device, [&] { collectives::ring_all_reduce(world, buffer_of(std::span(values))); });
    }
    const Text text(std::string(4000, 'a'), "a row of letters");
    Trainer trainer(world, run.options);
    const Batch batch = make_batch(text, 1, 0, run.options.batch, run.options.shape.sequence);
    return measure(device, [&] { trainer.step(batch.view(), 1); });
}

}  // namespace

int main(int argc, char** argv)
try {
    check(argc == 3, "usage: times ring|pipeline|3d eager|rendezvous|measured");
    const Run run = find_run(argv[1]);
    const std::vector<std::string> settings = settings_of(argv[2]);
    return simulate_ranks(run.options.layout.world_size(), run.options.topology, settings, [&] {
        return run_rank(1, argv, [&](MpiSession& session) {
            const Times times = run_on_rank(run, session);
            if (session.rank() == 0)
                fmt::print("{:<10}{:>4} devices  {:<12}{:>12}{:>12}{:>9.4f}\n", argv[1], session.size(),
                           argv[2], format_seconds(times.ours), format_seconds(times.simulated),
                           times.simulated / times.ours);
            return 0;
        });
    });
} catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
