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
            off.push_back(std::abs(entry.predicted - entry.counted) / entry.counted);
        }
        const auto all_counted = gather_numbers(world, counted);
        const auto all_off = gather_numbers(world, off);
        if (world.rank() > 0) return;
        fmt::print("{:<40}{:>10}{:>10}{:>10}{:>10}   predicted\n", "counted by a device", "stage 0",
                   "stage 1", "stage 2", "stage 3");
        for (std::size_t i = 0; i + 1 < entries.size(); ++i) {  // the last is the time, on rank 0 only
            fmt::print("{:<40}", entries[i].what);
            double worst = 0.0;
            for (const auto& of_rank : all_off) worst = std::max(worst, of_rank[i]);
            for (const std::size_t rank : {0U, 8U, 16U, 24U}) fmt::print("{:>10.0f}", all_counted[rank][i]);
            fmt::print("   {}\n", worst == 0.0 ? "the same" : fmt::format("off by {:.2f} %", 100.0 * worst));
        }
        const agreement::Entry& time = entries.back();
        fmt::print("{:<40}{:>10.4g}{:>30}   {:.4g}, off by {:.1f} %\n", time.what, time.counted, "",
                   time.predicted, 100.0 * off.back());
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
