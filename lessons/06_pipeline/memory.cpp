// What each stage of a naive pipeline holds, by its counters after a step, beside the formulas.
#include "lessons/06_pipeline/run.hpp"
#include "lessons/06_pipeline/stages.hpp"

using namespace lesson;

namespace {

struct Predicted {
    double parameters;   // elements
    double activations;  // bytes, at most
};

/// Of stage `stage` with `blocks` blocks, in bf16. Activations: what the forward pass saves of the whole
/// mini-batch, and what the backward pass holds besides when it begins (dy and the MLP's gradient, or the
/// head's two gradients and the loss).
Predicted predict(const TrainOptions& o, int stage, std::int64_t blocks)
{
    const auto h = static_cast<double>(o.shape.hidden);
    const auto t = static_cast<double>(o.shape.sequence);
    const auto a = static_cast<double>(o.shape.heads);
    const auto v = static_cast<double>(o.shape.vocabulary);
    const auto b = static_cast<double>(o.batch);
    const bool first = stage == 0;
    const bool last = stage == o.layout.pp - 1;
    const auto count = static_cast<double>(blocks);
    Predicted p{count * (12 * h * h + 13 * h),
                count * (2 * (16 * b * t * h + b * a * t * t) + 4 * 4 * b * t)};
    if (first) p.parameters += v * h + t * h;
    if (last) p.parameters += v * h + 2 * h;
    p.activations +=
        last ? 2 * (2 * b * t * h + b * t * v) + 4 * 3 * b * t + 2 * 2 * b * t * h + 8 : 2 * 5 * b * t * h;
    return p;
}

void print(const TrainOptions& options, const std::vector<std::vector<double>>& stages)
{
    const std::vector<std::int64_t> blocks = pipeline::balance_blocks(options.shape, options.layout.pp);
    fmt::print(
        "                    parameters            gradients       optimizer states     activations, at "
        "most\n"
        "stage blocks    counted  predicted    counted  predicted    counted  predicted    counted  "
        "predicted\n");
    double parameters = 0.0;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        const Predicted p = predict(options, static_cast<int>(s), blocks[s]);
        fmt::print("{:>5}{:>7}", s, blocks[s]);
        const std::array<double, 4> predicted{2 * p.parameters, 2 * p.parameters, 12 * p.parameters,
                                              p.activations};
        for (std::size_t i = 0; i < predicted.size(); ++i)
            fmt::print("{:>11}{:>11}", stages[s][i], predicted.at(i));
        fmt::print("\n");
        parameters += p.parameters;
    }
    fmt::print("{} parameters on all stages, {} in the model, {} in its token embedding\n", parameters,
               options.shape.parameters(), options.shape.vocabulary * options.shape.hidden);
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        TrainOptions options = pipeline_run(4);
        options.dtype = DType::bf16;
        on_grid(session, options, [&](Comm& comm) {
            Trainer trainer(comm, options);
            const RandomBatch batch(options.batch, options.shape.sequence, 1);
            trainer.step(batch.view(), 1);
            const MemoryUse& memory = comm.device().memory();
            std::vector<double> own;
            for (const Category category :
                 {Category::parameters, Category::gradients, Category::optimizer_states})
                own.push_back(static_cast<double>(memory.current_of(category)));
            own.push_back(static_cast<double>(memory.peak_of(Category::activations)));
            const auto stages = gather_numbers(comm, own);
            if (comm.rank() == 0) print(options, stages);
        });
        return 0;
    });
}
