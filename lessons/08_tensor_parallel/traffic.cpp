// What a rank sends for one block, in both passes, and in a step of the model, beside the formulas: 2, 4 and
// 8 ranks, with and without sequence parallelism, with the block recomputed.
#include <cmath>

#include "lessons/08_tensor_parallel/run.hpp"

using namespace lesson;

namespace {

/// `parts` all-gathers or reduce-scatters (an all-reduce is two) of the activations, and the layer norms'
/// gradients.
double predict(const TrainOptions& o, double parts, bool layer_norms)
{
    const auto t = static_cast<double>(o.layout.tp);
    const double n = static_cast<double>(o.batch * o.shape.sequence * o.shape.hidden) * 4.0;
    const double gradients = layer_norms ? 2.0 * 2.0 * 2.0 * static_cast<double>(o.shape.hidden) * 4.0 : 0.0;
    return (parts * n + gradients) * (t - 1.0) / t;
}

/// 4 all-reduces a block, one behind the embedding, one before the head (backward); the cross-entropy's
/// numbers; losses.
double predict_step(const TrainOptions& o)
{
    const double losses = 8.0 * std::log2(o.layout.tp);
    const auto rows = static_cast<double>(o.batch * o.shape.sequence);
    return predict(o, 2.0 * (4.0 * static_cast<double>(o.shape.layers) + 2.0), false) +
           4.0 * rows * (o.layout.tp - 1) + losses;
}

void print_step(MpiSession& session, int degree)
{
    const TrainOptions options = tensor_run(degree);
    on_grid(session, options, [&](Comm& comm) {
        Trainer trainer(comm, options);
        const RandomBatch batch(options.batch, options.shape.sequence, 1);
        trainer.step(batch.view(), 1);
        const Traffic::Count sent = trainer.groups().tensor.traffic().total;
        if (comm.rank() == 0)
            fmt::print("{:>26}{:>11}{:>9}{:>11}\n", degree, sent.messages, sent.bytes, predict_step(options));
    });
}

struct Way {
    const char* name;
    bool sequence_parallel;
    bool recompute;
    double forward;   // all-gathers and reduce-scatters
    double backward;  // the same
};

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        if (session.rank() == 0)
            fmt::print(
                "                                forward                       backward\n"
                "                         T   messages    bytes  predicted   messages    bytes  predicted\n");
        for (const Way& way :
             {Way{"all-reduces", false, false, 4, 4}, Way{"sequence-parallel", true, false, 4, 6},
              Way{"all-reduces, recomputed", false, true, 4, 8}})
            for (const int degree : {2, 8}) {
                TrainOptions options = tensor_run(degree);
                options.layout.sequence_parallel = way.sequence_parallel;
                options.recompute = way.recompute;
                const BlockFigures block = measure_block(session, options);
                if (session.rank() == 0)
                    fmt::print("{:<23}{:>3}{:>11}{:>9}{:>11}{:>11}{:>9}{:>11}\n", way.name, degree,
                               block.forward.messages, block.forward.bytes,
                               predict(options, way.forward, false), block.backward.messages,
                               block.backward.bytes, predict(options, way.backward, way.sequence_parallel));
            }
        if (session.rank() == 0) fmt::print("a step of the model\n");
        for (const int degree : {2, 8}) print_step(session, degree);
        return 0;
    });
}
