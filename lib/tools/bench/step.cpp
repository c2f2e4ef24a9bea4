#include "lib/tools/bench/step.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "lib/machine/base/error.hpp"
#include "lib/machine/tensor/matrix.hpp"
#include "lib/machine/tensor/random.hpp"
#include "lib/tools/launch/launch.hpp"
#include "lib/tools/train/trainer.hpp"

namespace shardlings {

namespace {

struct BenchShape {
    ModelShape model;
    std::int64_t batch;
    int steps;  // measured in a row
};

const std::array<BenchShape, 3> shapes{
    {{{4, 256, 4, 128, 256}, 8, 6}, {{6, 384, 6, 256, 256}, 4, 3}, {{2, 64, 4, 32, 256}, 8, 200}}};

double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// FLOP/s of a large square sgemm: the best this machine's BLAS does on one thread.
double gemm_speed()
{
    constexpr std::int64_t n = 1024;
    Device device{DeviceOptions{}};
    std::vector<float> a(n * n, 1.0f);
    std::vector<float> b(n * n, 1.0f);
    std::vector<float> c(n * n);
    const Matrix<float> a_(a.data(), n, n), b_(b.data(), n, n), c_(c.data(), n, n);
    double best = 1e30;
    for (int i = 0; i < 8; ++i) {
        const double begin = now();
        gemm(device, 1.0f, a_, b_, 0.0f, c_);
        best = std::min(best, now() - begin);
    }
    return 2.0 * n * n * n / best;
}

struct StepTime {
    double seconds = 1e30;
    double gemm_seconds = 0.0;
    double gemm_flops = 0.0;
};

StepTime our_step(const BenchShape& shape)
{
    TrainOptions options;
    options.shape = shape.model;
    options.batch = shape.batch;
    Device device{DeviceOptions{}};
    const Comm world = Comm::world(device);
    Trainer trainer(world, options);
    const RandomStream stream(1, "bench");
    const auto count = static_cast<std::size_t>(shape.batch * shape.model.sequence);
    std::vector<std::int32_t> ids(count + 1);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(stream.bits(i) % 256);
    const MicroBatch batch{
        shape.batch, shape.model.sequence, std::span(ids).first(count), std::span(ids).last(count), 0.0, 0};
    StepTime best;
    for (int i = 0; i < shape.steps + 2; ++i) {
        const double begin = now();
        const double gemm_begin = device.wall_seconds();
        const double flops_begin = device.flops();
        trainer.step(batch, i + 1);
        const double seconds = now() - begin;
        if (i >= 2 && seconds < best.seconds)
            best = {seconds, device.wall_seconds() - gemm_begin, device.flops() - flops_begin};
    }
    return best;
}

/// PyTorch's shortest step, or none when it is not installed.
std::optional<double> pytorch_step(const BenchShape& shape)
{
    const ModelShape& m = shape.model;
    const ProcessResult result = run_captured(
        {"/usr/bin/python3", "lib/tools/bench/pytorch_step.py", "--layers", std::to_string(m.layers),
         "--hidden", std::to_string(m.hidden), "--heads", std::to_string(m.heads), "--seq",
         std::to_string(m.sequence), "--batch", std::to_string(shape.batch), "--vocab",
         std::to_string(m.vocabulary), "--steps", std::to_string(shape.steps)},
        {{"OPENBLAS_NUM_THREADS", "1"}}, 600.0);
    if (result.exit_code != 0) return std::nullopt;
    const auto line = result.output.find('{');
    check(line != std::string::npos, "PyTorch's benchmark printed no figures: {}", result.output);
    return nlohmann::json::parse(result.output.substr(line)).at("minimum").get<double>();
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void print_shape(const BenchShape& shape, int rounds, double machine_flops)
{
    StepTime best;
    std::vector<double> ratios;
    double pytorch_best = 1e30;
    for (int round = 0; round < rounds; ++round) {
        const StepTime ours = our_step(shape);
        if (ours.seconds < best.seconds) best = ours;
        if (const auto theirs = pytorch_step(shape)) {
            pytorch_best = std::min(pytorch_best, *theirs);
            ratios.push_back(*theirs / ours.seconds);
        }
    }
    const ModelShape& m = shape.model;
    const double tokens = static_cast<double>(shape.batch * m.sequence);
    fmt::print("layers {} hidden {} heads {} seq {} batch {} vocab {}\n", m.layers, m.hidden, m.heads,
               m.sequence, shape.batch, m.vocabulary);
    fmt::print(
        "  {:.3f} ms a step, {:.0f} tokens/s, {:.1f} GFLOP/s = {:.0f} % of the machine's GEMM, {:.0f} % of "
        "the "
        "time in GEMM\n",
        best.seconds * 1e3, tokens / best.seconds, best.gemm_flops / best.seconds / 1e9,
        100.0 * best.gemm_flops / best.seconds / machine_flops, 100.0 * best.gemm_seconds / best.seconds);
    if (ratios.empty())
        fmt::print("  PyTorch is not installed (Debian: python3-torch): no comparison\n");
    else
        fmt::print("  PyTorch {:.3f} ms a step: {:.2f} times ours (median of {} rounds, {:.2f} to {:.2f})\n",
                   pytorch_best * 1e3, median(ratios), ratios.size(),
                   *std::min_element(ratios.begin(), ratios.end()),
                   *std::max_element(ratios.begin(), ratios.end()));
}

}  // namespace

void bench_step(int rounds)
{
    check(rounds >= 1 && rounds <= 100, "--rounds is {}: expected 1 to 100", rounds);
    const double machine_flops = gemm_speed();
    fmt::print("one thread, fp32; sgemm 1024 x 1024 x 1024: {:.1f} GFLOP/s\n", machine_flops / 1e9);
    for (const BenchShape& shape : shapes) print_shape(shape, rounds, machine_flops);
}

}  // namespace shardlings
