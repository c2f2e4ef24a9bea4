#include "lessons/02_training_step/accumulation.hpp"

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
    // BEGIN SOLUTION 02.3 split_batch
    const std::int64_t sequences = batch.sequences / micro_batches;
    const auto tokens = static_cast<std::size_t>(sequences * batch.tokens);
    for (std::size_t i = 0; i < static_cast<std::size_t>(micro_batches); ++i)
        parts.push_back({sequences, batch.tokens, batch.inputs.subspan(i * tokens, tokens),
                         batch.targets.subspan(i * tokens, tokens), 1.0 / static_cast<double>(counted),
                         static_cast<std::int64_t>(i)});
    // END SOLUTION
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
    // BEGIN SOLUTION 02.3 accumulate_gradients
    for (const MicroBatch& batch : micro_batches) {
        std::vector<Saved> saved(modules.size());
        Tensor x;
        for (std::size_t i = 0; i < modules.size(); ++i)
            x = modules[i]->forward(batch, std::move(x), saved[i]);
        loss += x.span<double>()[0];
        Tensor dx = scalar(x.device(), loss_scale);
        for (std::size_t i = modules.size(); i-- > 0;)
            dx = modules[i]->backward(batch, std::move(dx), saved[i]);
    }
    for (Parameter* parameter : parameters_of(modules)) merge_second_gradient(*parameter);
    // END SOLUTION
    return loss;
}

double training::evaluate_loss(const Modules& modules, std::span<const MicroBatch> micro_batches)
{
    double loss = 0.0;
    // BEGIN SOLUTION 02.3 evaluate_loss
    for (const MicroBatch& batch : micro_batches) {
        Tensor x;
        for (const auto& module : modules) {
            Saved unused;
            x = module->forward(batch, std::move(x), unused);
        }
        loss += x.span<double>()[0];
    }
    // END SOLUTION
    return loss;
}
