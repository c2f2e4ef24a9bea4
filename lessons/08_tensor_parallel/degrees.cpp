// A training step on 2 nodes of 4 devices, and on all of a degree's devices in one node or spread over two;
// then formulas for a block of GPT-3.
#include "lessons/08_tensor_parallel/run.hpp"

using namespace lesson;

namespace {

struct Step {
    double seconds = 0.0;
    double busy = 0.0;  // of rank 0
};

/// On nodes of `devices` devices each, as many as 8 ranks need.
TrainOptions options_of(int tensor, int data, int devices)
{
    TrainOptions options = tensor_run(tensor);
    options.shape = {2, 256, 8, 64, 256};
    options.batch = 8;
    options.layout.dp = data;
    options.topology.nodes = 8 / devices;
    options.topology.devices_per_node = devices;
    options.topology.flops = 1e12;
    return options;
}

/// On rank 0.
Step measure(MpiSession& session, const TrainOptions& options)
{
    Step step;
    on_grid(session, options, [&](Comm& comm) {
        Trainer trainer(comm, options);
        const RandomBatch batch(options.batch, options.shape.sequence, 1);
        const double begin = comm.device().clock().now();
        step.busy = trainer.step(batch.view(), 1).busy_seconds;
        step.seconds = comm.device().clock().now() - begin;
    });
    return step;
}

void print_degrees(MpiSession& session)
{
    const double one = measure(session, options_of(1, 1, 8)).seconds;
    if (session.rank() == 0)
        fmt::print(
            "one device: {:.1f} us\n\n"
            "             all T devices in a node         T/2 on each of two nodes\n"
            "   T         step  waiting   speed-up         step  waiting   speed-up\n",
            1e6 * one);
    for (const int degree : {2, 4, 8}) {
        const Step within = measure(session, options_of(degree, 1, 8));
        const Step across = measure(session, options_of(degree, 1, degree / 2));
        if (session.rank() != 0) continue;
        fmt::print("{:>4}", degree);
        for (const Step& step : {within, across})
            fmt::print("{:>10.1f} us{:>7.1f} %{:>11.2f}", 1e6 * step.seconds,
                       100.0 * (1.0 - step.busy / step.seconds), one / step.seconds);
        fmt::print("\n");
    }
}

void print_grid(MpiSession& session)
{
    if (session.rank() == 0) fmt::print("\n8 devices, 2 nodes of 4\n  dp  tp      step  waiting\n");
    for (const int degree : {1, 2, 4, 8}) {
        const Step step = measure(session, options_of(degree, 8 / degree, 4));
        if (session.rank() == 0)
            fmt::print("{:>4}{:>4}{:>7.1f} us{:>7.1f} %\n", 8 / degree, degree, 1e6 * step.seconds,
                       100.0 * (1.0 - step.busy / step.seconds));
    }
}

/// A block of GPT-3 (h = 12288, 2048 tokens, one sequence, bf16) with the default links and FLOP/s.
void print_predicted()
{
    const Topology topology;
    const double h = 12288;
    const double tokens = 2048;
    fmt::print(
        "\na block of GPT-3, one sequence, forward and backward\n"
        "   T   computing   4 all-reduces in a node   across nodes\n");
    for (const double t : {2.0, 4.0, 8.0, 16.0, 32.0}) {
        const double flops = 3.0 * (24.0 * tokens * h * h + 4.0 * tokens * tokens * h) / t;
        const auto all_reduces = [&](const Link& link) {
            return 4.0 * 2.0 * (t - 1.0) * link.seconds(2.0 * tokens * h / t);
        };
        fmt::print("{:>4}{:>9.2f} ms{:>23.2f} ms{:>12.2f} ms\n", t, 1e3 * flops / topology.flops,
                   1e3 * all_reduces(topology.intra), 1e3 * all_reduces(topology.inter));
    }
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        print_degrees(session);
        print_grid(session);
        if (session.rank() == 0) print_predicted();
        return 0;
    });
}
