// The same step with the three dimensions on other links: which of them has its neighbours in a node. 32
// ranks.
#include <algorithm>
#include <array>
#include <string>

#include "lessons/09_3d/run.hpp"

using namespace lesson;

namespace {

struct Dimension {
    char letter;
    int degree;
    int grid::Coordinates::*at;
};

/// Of a device that has this place in the cluster, when the first dimension changes fastest.
grid::Coordinates coordinates_at(int place, const std::array<Dimension, 3>& order)
{
    grid::Coordinates at{0, 0, 0};
    for (const Dimension& dimension : order) {
        at.*dimension.at = place % dimension.degree;
        place /= dimension.degree;
    }
    return at;
}

void measure(MpiSession& session, const std::array<Dimension, 3>& order, double flops, bool free)
{
    TrainOptions options = example_on_grid(1);
    options.topology.flops = flops;
    if (free) options.topology = free_links(options.topology);
    on_grid(session, options, [&](Comm& cluster) {
        const grid::Coordinates at = coordinates_at(cluster.rank(), order);
        Comm world = cluster.split(0, grid::rank_of(at, grid_of(options.layout)));
        Trainer trainer(world, options);
        const Device& device = cluster.device();
        const std::uint64_t bytes_before = device.traffic().inter_node.bytes;
        const double begin = device.clock().now();
        const RandomBatch batch(options.batch, options.shape.sequence, 1);
        const StepReport report = trainer.step(batch.view(), 1);
        const double end = device.clock().now();
        const auto ranks =
            gather_numbers(cluster, {static_cast<double>(device.traffic().inter_node.bytes - bytes_before),
                                     end - begin, report.busy_seconds});
        if (cluster.rank() > 0) return;
        double bytes = 0.0;
        double seconds = 0.0;
        double busy = 0.0;
        for (const auto& rank : ranks) {
            bytes += rank[0];
            seconds = std::max(seconds, rank[1]);
            busy += rank[2] / static_cast<double>(ranks.size());
        }
        fmt::print("{} {} {}{:>22}{:>14.3f} ms{:>9.1f} %{}\n", order[0].letter, order[1].letter,
                   order[2].letter, bytes, 1e3 * seconds, 100.0 * (1.0 - busy / seconds),
                   free ? "   if messages took no time" : "");
    });
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        const Dimension tensor{'T', 4, &grid::Coordinates::tp};
        const Dimension data{'D', 2, &grid::Coordinates::dp};
        const Dimension stages{'P', 4, &grid::Coordinates::pp};
        const std::array right{tensor, data, stages};
        for (const double flops : {1e10, 1e11}) {
            if (session.rank() == 0)
                fmt::print(
                    "devices of {:.0f} GFLOP/s\nfastest    between nodes, bytes          step      idle\n",
                    flops / 1e9);
            for (const auto& order : {right, std::array{tensor, stages, data},
                                      std::array{data, stages, tensor}, std::array{stages, tensor, data}})
                measure(session, order, flops, false);
            measure(session, right, flops, true);
        }
        return 0;
    });
}
