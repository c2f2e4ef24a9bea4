// Lesson 09's example of 32 devices: what this lesson predicts of each beside what it has counted.
#include "lib/tools/agreement/ledger.hpp"
#include "lessons/09_3d/run.hpp"

using namespace lesson;

namespace {

/// Of one step, on every rank; the time on rank 0.
std::vector<agreement::Entry> run_step(Comm& world, const TrainOptions& options)
{
    Trainer trainer(world, options);
    Device& device = world.device();
    const double begin = device.clock().now();
    const RandomBatch batch(options.batch, options.shape.sequence, 1);
    trainer.step(batch.view(), 1);
    const double seconds = device.clock().now() - begin;
    return agreement::ledger_of(device, trainer, options, world.rank() == 0 ? seconds : std::nan(""));
}

void print_ledger(MpiSession& session, const TrainOptions& options)
{
    on_grid(session, options, [&](Comm& world) {
        const std::vector<agreement::Entry> entries = run_step(world, options);
        std::vector<double> counted, off;
        for (const agreement::Entry& entry : entries) {
            counted.push_back(entry.counted);
            off.push_back(std::abs(entry.predicted - entry.counted) / std::max(1.0, entry.counted));
        }
        const auto all_counted = gather_numbers(world, counted);
        const auto all_off = gather_numbers(world, off);
        if (world.rank() > 0) return;
        fmt::print("{:<40}{:>10}{:>10}{:>10}{:>10}   predicted\n", "counted by a device", "stage 0",
                   "stage 1", "stage 2", "stage 3");
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (entries[i].what == "seconds of a step") {
                fmt::print("{:<40}{:>10.4g}{:>30}   {:.4g}, off by {:.1f} %\n", entries[i].what,
                           entries[i].counted, "", entries[i].predicted,
                           100.0 * std::abs(entries[i].predicted / entries[i].counted - 1.0));
                continue;
            }
            fmt::print("{:<40}", entries[i].what);
            const std::size_t own = i - (i > 0 && entries[i - 1].what == "seconds of a step" ? 1 : 0);
            double worst = 0.0;
            for (std::size_t rank = 0; rank < all_off.size(); ++rank)
                worst = std::max(worst, all_off[rank][rank == 0 ? i : own]);
            for (const std::size_t rank : {0U, 8U, 16U, 24U})
                fmt::print("{:>10.0f}", all_counted[rank][rank == 0 ? i : own]);
            fmt::print("   {}\n", worst == 0.0 ? "the same" : fmt::format("off by {:.2f} %", 100.0 * worst));
        }
    });
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        TrainOptions options = example_on_grid(3);
        options.steps = 1;
        options.layout.sequence_parallel = true;
        print_ledger(session, options);
        return 0;
    });
}
