// Where the time of a step goes, predicted, beside the clock of devices that run it. 8 ranks.
#include <cmath>
#include <string>

#include "lessons/06_pipeline/run.hpp"
#include "lessons/10_counting/time.hpp"
#include "lib/tools/agreement/ledger.hpp"

using namespace lesson;

namespace {

/// Two nodes of four devices; 8 blocks, h = 64, 32 tokens, 16 sequences in 4 micro-batches a rank.
TrainOptions run_of(const Layout& layout)
{
    TrainOptions options;
    options.shape = {8, 64, 4, 32, 256};
    options.batch = 16;
    options.micro_batches = 4;
    options.steps = 1;
    options.layout = layout;
    options.topology.nodes = 2;
    options.topology.devices_per_node = 4;
    options.topology.flops = 2e11;
    return options;
}

void print_row(MpiSession& session, const std::string& name, const TrainOptions& options)
{
    double seconds = 0.0;
    on_grid(session, options, [&](Comm& world) {
        Trainer trainer(world, options);
        const double begin = world.device().clock().now();
        const RandomBatch batch(options.batch, options.shape.sequence, 1);
        trainer.step(batch.view(), 1);
        seconds = world.device().clock().now() - begin;
    });
    if (session.rank() > 0) return;
    const counting::Job job = agreement::job_of(options);
    const counting::StepTime time = counting::step_time(job, options.topology, true);
    const double formula = counting::step_time(job, options.topology, false).total();
    fmt::print("{:<27}", name);
    for (const double part : {time.compute, time.tensor, time.data, time.bubble, time.pipeline, time.control,
                              formula, time.total(), seconds})
        fmt::print("{:>9.1f}", 1e6 * part);
    fmt::print("{:>8.1f}{:>7.1f}{:>6.1f}\n", 100.0 * std::abs(formula / seconds - 1.0),
               100.0 * std::abs(time.total() / seconds - 1.0),
               100.0 * counting::utilisation(counting::model_flops(job), job, options.topology, seconds));
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        if (session.rank() == 0)
            fmt::print("{:<27}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>8}{:>7}{:>6}\n", "microseconds",
                       "compute", "tensor", "data", "bubble", "pipeline", "control", "formula", "walked",
                       "clock", "off %", "off %", "MFU %");
        const Layout pp2{.pp = 2, .dp = 2, .tp = 2, .schedule = "1f1b"};
        Layout interleaved = pp2;
        interleaved.schedule = "interleaved";
        interleaved.virtual_stages = 2;
        Layout shared = pp2;
        shared.sequence_parallel = true;
        shared.zero = 1;
        print_row(session, "one device", run_of({}));
        print_row(session, "dp 4", run_of({.dp = 4}));
        print_row(session, "dp 4, ZeRO 2", run_of({.dp = 4, .zero = 2}));
        print_row(session, "dp 4, ZeRO 3", run_of({.dp = 4, .zero = 3}));
        print_row(session, "tp 4", run_of({.tp = 4}));
        print_row(session, "pp 4, naive", run_of({.pp = 4, .schedule = "naive"}));
        print_row(session, "pp 4, gpipe", run_of({.pp = 4}));
        print_row(session, "pp 4, 1f1b", run_of({.pp = 4, .schedule = "1f1b"}));
        print_row(session, "pp 2 x dp 2 x tp 2, 1f1b", run_of(pp2));
        print_row(session, "  with ZeRO 1, SP", run_of(shared));
        print_row(session, "  interleaved", run_of(interleaved));
        return 0;
    });
}
