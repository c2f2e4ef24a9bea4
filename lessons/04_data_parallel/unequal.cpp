// Two ranks, of which one has many masked tokens: summed with the weight of the global batch, and as a mean
// of the ranks' means. Both ranks' parts are worked off by this one process.
#include <cmath>
#include <exception>
#include <string>

#include "lessons/02_training_step/clipping.hpp"
#include "lessons/04_data_parallel/batch_shard.hpp"
#include "lessons/04_data_parallel/run.hpp"

using namespace lesson;

namespace {

constexpr ModelShape shape{1, 32, 2, 16, 256};

double counted(const MicroBatch& batch)
{
    double tokens = 0.0;
    for (const std::int32_t target : batch.targets) tokens += target >= 0 ? 1.0 : 0.0;
    return tokens;
}

void show(OneDevice& model, const std::string& what, std::span<const MicroBatch> parts)
{
    const double loss = model.accumulate(parts);
    const Tensor& gradients = model.flat().gradients();
    fmt::print("{:<38}{:>10.6f}{:>12.6f}\n", what, loss,
               std::sqrt(training::sum_of_squares(gradients.buffer())));
}

}  // namespace

int main()
try {
    RandomBatch global(4, shape.sequence, 1);
    for (std::int64_t i = 32; i < 60; ++i) global.mask(i);  // all but 4 tokens of sequences 2 and 3
    OneDevice model(shape, DType::fp64);
    fmt::print("{:<38}{:>10}{:>12}\n", "", "loss", "norm of g");
    show(model, "single process, the global batch", training::split_batch(global.view(), 1));

    std::vector<MicroBatch> parts;  // of rank 0 and of rank 1
    std::vector<MicroBatch> means;  // the same with a mean over the rank's own tokens, halved
    for (const int rank : {0, 1}) {
        parts.push_back(data_parallel::shard_batch(global.view(), 2, rank, 1).front());
        MicroBatch own_mean = parts.back();
        own_mean.token_weight = 1.0 / counted(own_mean);
        show(model, fmt::format("rank {} alone, {:>2} counted tokens", rank, counted(own_mean)),
             {{own_mean}});
        own_mean.token_weight /= 2.0;
        means.push_back(own_mean);
    }
    show(model, fmt::format("sum over ranks, weight 1/{:.0f}", 1.0 / parts[0].token_weight), parts);
    show(model, "mean of the two means", means);
} catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
