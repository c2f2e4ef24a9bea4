#include "lib/tools/bench/scaling.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "lib/machine/base/error.hpp"
#include "lib/machine/tensor/random.hpp"
#include "lib/tools/launch/launch.hpp"
#include "lib/tools/train/trainer.hpp"

namespace shardlings {

namespace {

struct ScalingShape {
    ModelShape model;
    std::int64_t batch_per_rank;
};

const ScalingShape shape{{4, 256, 4, 128, 256}, 8};
constexpr int warm_up_steps = 3;
constexpr int measured_steps = 10;
constexpr double launch_limit = 300.0;  // seconds

double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Tokens per second, as a launch of `ranks` ranks of this program prints them.
double launch_and_measure(int ranks)
{
    const std::string self = std::filesystem::canonical("/proc/self/exe").string();
    const ProcessResult result = run_captured(mpirun_command(ranks, {self, "bench", "scaling", "--measure"}),
                                              mpirun_environment(), launch_limit);
    check(result.exit_code == 0 && result.signal == 0 && !result.timed_out,
          "the launch of {} ranks failed: {}", ranks, result.output);
    return std::stod(result.output);
}

}  // namespace

void measure_scaling(MpiSession& session)
{
    TrainOptions options;
    options.shape = shape.model;
    options.layout.dp = session.size();
    options.batch = shape.batch_per_rank * session.size();
    DeviceOptions device_options;
    device_options.rank = session.rank();
    device_options.topology.devices_per_node = session.size();
    Device device(device_options);
    const Comm world = Comm::world(device);
    Trainer trainer(world, options);

    const RandomStream stream(1, "bench");
    std::vector<std::int32_t> ids(static_cast<std::size_t>(options.batch * options.shape.sequence + 1));
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(stream.bits(i) % 256);
    const std::size_t count = ids.size() - 1;
    const MicroBatch batch{options.batch,
                           options.shape.sequence,
                           std::span(ids).first(count),
                           std::span(ids).last(count),
                           0.0,
                           0};
    double begin = 0.0;
    for (int step = 1; step <= warm_up_steps + measured_steps; ++step) {
        if (step == warm_up_steps + 1) {
            world.barrier();
            begin = now();
        }
        trainer.step(batch, step);
    }
    world.barrier();
    if (session.rank() == 0)
        fmt::print("{}\n",
                   static_cast<double>(measured_steps) * static_cast<double>(count) / (now() - begin));
}

void bench_scaling(int rounds)
{
    check(rounds >= 1 && rounds <= 100, "--rounds is {}: expected 1 to 100", rounds);
    const ModelShape& m = shape.model;
    fmt::print("layers {} hidden {} heads {} seq {}, {} sequences a rank, fp32, one thread a rank\n",
               m.layers, m.hidden, m.heads, m.sequence, shape.batch_per_rank);
    std::array<double, 2> best{};
    std::vector<double> ratios;
    for (int round = 0; round < rounds; ++round) {
        const double one = launch_and_measure(1);
        const double two = launch_and_measure(2);
        best = {std::max(best[0], one), std::max(best[1], two)};
        ratios.push_back(two / one);
    }
    std::sort(ratios.begin(), ratios.end());
    fmt::print(
        "1 rank {:.0f} tokens/s, 2 ranks {:.0f} tokens/s: {:.2f} times (median of {} rounds, {:.2f} to "
        "{:.2f})\n",
        best[0], best[1], ratios[ratios.size() / 2], ratios.size(), ratios.front(), ratios.back());
}

}  // namespace shardlings
