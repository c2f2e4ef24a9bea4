#include "lessons/02_training_step/accumulation.hpp"
#include "lib/machine/base/error.hpp"

#include <algorithm>
#include <utility>

using namespace training;

namespace {

/// One fp64 number on the device, such as a loss or its gradient.
Tensor scalar(Device& device, double value)
{
    Tensor tensor(device, {1}, DType::fp64, Category::activations);
    tensor.span<double>()[0] = value;
    return tensor;
}

}  // namespace

std::vector<MicroBatch> training::split_batch(const MicroBatch& batch, std::int64_t micro_batches)
{
    check(micro_batches >= 1 && batch.sequences % micro_batches == 0,
          "a batch of {} sequences cannot be cut into {} equal micro-batches: choose --batch and "
          "--microbatches that "
          "divide",
          batch.sequences, micro_batches);
    const auto counted =
        std::count_if(batch.targets.begin(), batch.targets.end(), [](int target) { return target >= 0; });
    check(counted > 0, "no token of the batch has a target");
    std::vector<MicroBatch> parts;
    // Your code: see lessons/02_training_step/accumulation.hpp (hints: make hint-02 PART=02.3)
    not_implemented("02.3 split_batch");
    for (std::size_t i = 0; i < parts.size(); ++i) {
        parts[i].first_sequence = batch.first_sequence + static_cast<std::int64_t>(i) * parts[i].sequences;
        parts[i].step = batch.step;
    }
    return parts;
}

double training::accumulate_gradients(const Modules& modules, std::span<const MicroBatch> micro_batches,
                                      double loss_scale)
{
    double loss = 0.0;
    // Your code: see lessons/02_training_step/accumulation.hpp (hints: make hint-02 PART=02.3)
    not_implemented("02.3 accumulate_gradients");
    return loss;
}

double training::evaluate_loss(const Modules& modules, std::span<const MicroBatch> micro_batches)
{
    double loss = 0.0;
    // Your code: see lessons/02_training_step/accumulation.hpp (hints: make hint-02 PART=02.3)
    not_implemented("02.3 evaluate_loss");
    return loss;
}
