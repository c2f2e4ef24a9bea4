// A step of the naive pipeline on 1 to 8 devices: which part of their time they compute.
#include <utility>

#include "lessons/06_pipeline/run.hpp"

using namespace lesson;

namespace {

/// Virtual seconds of a step, and the part of all devices' time in which they compute, on rank 0.
std::pair<double, double> measure(MpiSession& session, const TrainOptions& options)
{
    std::pair<double, double> result;
    on_grid(session, options, [&](Comm& comm) {
        Trainer trainer(comm, options);
        const RandomBatch batch(options.batch, options.shape.sequence, 1);
        const double begin = comm.device().clock().now();
        const StepReport report = trainer.step(batch.view(), 1);
        const double seconds = comm.device().clock().now() - begin;
        double busy = 0.0;
        for (const auto& numbers : gather_numbers(comm, {report.busy_seconds})) busy += numbers[0];
        result = {seconds, busy / (seconds * comm.size())};
    });
    return result;
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        if (session.rank() == 0)
            fmt::print(
                "               free links              5 us, 25 GB/s\n"
                "stages      step   utilisation      step   utilisation      1/P\n");
        for (const int stages : {1, 2, 3, 4, 6, 8}) {
            TrainOptions options = pipeline_run(stages);
            const auto real = measure(session, options);
            options.topology = free_links(options.topology);
            const auto free = measure(session, options);
            if (session.rank() != 0) continue;
            fmt::print("{:>6}", stages);
            for (const auto& [seconds, utilisation] : {free, real})
                fmt::print("{:>7.1f} us{:>11.4f} %", 1e6 * seconds, 100.0 * utilisation);
            fmt::print("{:>9.4f}\n", 1.0 / stages);
        }
        return 0;
    });
}
