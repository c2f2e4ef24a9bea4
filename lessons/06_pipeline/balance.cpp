// Blocks shared out evenly and by cost: how long the slowest of 4 stages takes, and for which part of the
// time a stage waits for it when all work at once.
#include "lessons/06_pipeline/stages.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>

namespace {

constexpr int stages = 4;

/// 1 − (a stage's mean cost) / (the slowest one's), with the head on the last stage.
double idle_share(const shardlings::ModelShape& shape, const std::vector<std::int64_t>& blocks)
{
    double slowest = 0.0;
    double sum = 0.0;
    for (std::size_t s = 0; s < blocks.size(); ++s) {
        double cost = static_cast<double>(blocks[s]) * pipeline::block_flops(shape);
        if (s + 1 == blocks.size()) cost += pipeline::head_flops(shape);
        slowest = std::max(slowest, cost);
        sum += cost;
    }
    return 1.0 - sum / (static_cast<double>(blocks.size()) * slowest);
}

}  // namespace

int main()
try {
    fmt::print("    L      h     T       V   head, in blocks          even    idle      balanced    idle\n");
    for (const shardlings::ModelShape& shape :
         {shardlings::ModelShape{8, 64, 4, 32, 256}, shardlings::ModelShape{12, 768, 12, 1024, 50257},
          shardlings::ModelShape{16, 2048, 32, 2048, 128256},
          shardlings::ModelShape{96, 12288, 96, 2048, 50257}}) {
        const std::vector<std::int64_t> even(stages, shape.layers / stages);
        const std::vector<std::int64_t> balanced = pipeline::balance_blocks(shape, stages);
        fmt::print("{:>5}{:>7}{:>6}{:>8}{:>18.2f}{:>14}{:>6.1f} %{:>14}{:>6.1f} %\n", shape.layers,
                   shape.hidden, shape.sequence, shape.vocabulary,
                   pipeline::head_flops(shape) / pipeline::block_flops(shape),
                   fmt::format("{}", fmt::join(even, " ")), 100.0 * idle_share(shape, even),
                   fmt::format("{}", fmt::join(balanced, " ")), 100.0 * idle_share(shape, balanced));
    }
} catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
