// What a device holds in each stage, by its counters after a step, beside the formulas; and the peaks in
// between.
#include "lessons/05_zero/memory.hpp"

#include "lessons/05_zero/run.hpp"

using namespace lesson;

namespace {

void print_row(const TrainOptions& options, const Device& device, std::uint64_t sent)
{
    const int degree = options.layout.dp;
    const MemoryUse& memory = device.memory();
    const auto x = static_cast<double>(options.shape.parameters());
    const zero::StateBytes formula = zero::state_bytes(options.layout.zero, x, degree, options.dtype);
    fmt::print("{:>2}{:>6}", degree, options.layout.zero);
    const auto pair = [&](Category category, double predicted) {
        fmt::print("{:>10}{:>11.8g}", memory.current_of(category), predicted);
    };
    pair(Category::parameters, formula.parameters);
    pair(Category::gradients, formula.gradients);
    pair(Category::optimizer_states, formula.optimizer_states);
    for (const Category category : {Category::parameters, Category::gradients})
        fmt::print("{:>9}", memory.peak_of(category) - memory.current_of(category));
    fmt::print("{:>9}{:>11.9g}\n", sent,
               zero::sent_elements(options.layout.zero, x, degree) * size_of(options.dtype));
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        TrainOptions options = small_run(4);
        options.shape = {8, 64, 4, 16, 256};
        options.dtype = DType::bf16;
        options.batch = 12;
        if (session.rank() == 0)
            fmt::print(
                "X = {}\n"
                "          parameters           gradients        optimizer states    peaks above     sent in "
                "a step\n"
                "Nd stage   counted   formula   counted   formula   counted   formula   values gradients  "
                "counted    "
                "formula\n",
                options.shape.parameters());
        for (options.layout.dp = 4; options.layout.dp >= 3; --options.layout.dp)
            for (options.layout.zero = 0; options.layout.zero <= 3; ++options.layout.zero)
                on_ranks(session, options, [&](Comm& group) {
                    Trainer trainer(group, options);
                    const RandomBatch batch(options.batch, options.shape.sequence, 1);
                    trainer.step(batch.view(), 1);
                    const Traffic::Count& sent = trainer.groups().data.data.traffic().total;
                    if (group.rank() == 0) print_row(options, group.device(), sent.bytes);
                });
        return 0;
    });
}
