// What a training step needs, by the device's counters beside the page's formulas: the model's three buffers
// in every dtype; activations and FLOPs in micro-batches, with and without recomputation.
#include <algorithm>
#include <exception>
#include <vector>

#include "lessons/01_transformer/model.hpp"
#include "lessons/02_training_step/accumulation.hpp"
#include "lessons/02_training_step/mixed_precision.hpp"
#include "lessons/02_training_step/recomputation.hpp"
#include "lib/machine/tensor/random.hpp"

using namespace training;

namespace {

constexpr ModelShape shape{2, 64, 4, 32, 256};
constexpr std::int64_t sequences = 16;

void print_model_memory()
{
    const std::int64_t x = shape.parameters();
    fmt::print("X = {} parameters: bytes, counted, and bytes / X\n", x);
    fmt::print("{:<8}{:>12}{:>6}{:>12}{:>6}{:>18}{:>6}{:>12}{:>6}\n", "dtype", "parameters", "", "gradients",
               "", "optimizer states", "", "all", "");
    for (const DType dtype : {DType::bf16, DType::fp16, DType::fp32, DType::fp64}) {
        Device device{DeviceOptions{}};
        const Modules gpt = transformer::make_gpt(shape);
        const FlatParameters parameters(device, make_flat_layout(parameters_of(gpt), 1), dtype);
        const OptimizerStates states = make_optimizer_states(parameters.values());
        const auto column = [&](std::uint64_t bytes, int width) {
            fmt::print("{:>{}}{:>5.3g}X", bytes, width, static_cast<double>(bytes) / static_cast<double>(x));
        };
        fmt::print("{:<8}", name_of(dtype));
        column(device.memory().current_of(Category::parameters), 12);
        column(device.memory().current_of(Category::gradients), 12);
        column(device.memory().current_of(Category::optimizer_states), 18);
        column(device.memory().current, 12);
        fmt::print("\n");
    }
}

/// What the page derives, in fp32, for the B sequences of a micro-batch.
struct Formulas {
    std::int64_t bt, stream, block, head, block_flops, head_flops;

    explicit Formulas(std::int64_t b)
        : bt(b * shape.sequence),
          stream(4 * bt * shape.hidden),
          block(4 * (16 * bt * shape.hidden + bt * shape.heads * shape.sequence + 4 * bt)),
          head(4 * (2 * bt * shape.hidden + bt * shape.vocabulary + 3 * bt)),
          block_flops(24 * bt * shape.hidden * shape.hidden + 4 * bt * shape.hidden * shape.sequence),
          head_flops(2 * bt * shape.hidden * shape.vocabulary)
    {
    }

    /// The peak: when the head has made its dx, or when the last block, of which everything is there, has
    /// made the gradient of the 4h wide activations. One or two single fp64 numbers: the loss and its
    /// gradient.
    std::int64_t peak(bool recompute) const
    {
        const std::int64_t below = recompute ? stream : block;  // what a block leaves between the passes
        const std::int64_t in_head = shape.layers * below + head + 2 * stream + 16;
        const std::int64_t in_block = (shape.layers - 1) * below + block + 5 * stream + 8;
        return std::max(in_head, in_block);
    }
};

struct Counted {
    double loss;
    std::uint64_t activations;
    double flops;
    double milliseconds;
};

Counted accumulate(std::int64_t micro_batches, bool recompute)
{
    Device device{DeviceOptions{}};
    Modules gpt = transformer::make_gpt(shape);
    for (std::size_t i = 1; recompute && i + 1 < gpt.size(); ++i) gpt[i] = make_recomputed(std::move(gpt[i]));
    const FlatParameters parameters(device, make_flat_layout(parameters_of(gpt), 1), DType::fp32);
    for (Parameter* parameter : parameters_of(gpt)) initialise(*parameter, 1);
    std::vector<std::int32_t> ids;
    const RandomStream stream(1, "tokens");
    for (std::int64_t i = 0; i < sequences * shape.sequence; ++i)
        ids.push_back(static_cast<std::int32_t>(stream.bits(static_cast<std::uint64_t>(i)) % 256));
    const MicroBatch batch{sequences, shape.sequence, ids, ids, 0.0, 0};
    const double loss = accumulate_gradients(gpt, split_batch(batch, micro_batches), 1.0);
    return {loss, device.memory().peak_of(Category::activations), device.flops(), 1e3 * device.clock().now()};
}

void print_passes()
{
    fmt::print("\nB = {} sequences, fp32: peak of the activations and FLOPs, counted and by the formulas\n",
               sequences);
    fmt::print("{:<8}{:<11}{:>12}{:>12}{:>13}{:>13}{:>12}{:>8}\n", "parts M", "recompute", "activations",
               "formula", "FLOPs", "formula", "virtual ms", "loss");
    for (const bool recompute : {false, true})
        for (const std::int64_t m : {1, 2, 4, 16}) {
            const Counted counted = accumulate(m, recompute);
            const Formulas f(sequences / m);
            const std::int64_t passes = recompute ? 4 : 3;
            fmt::print("{:<8}{:<11}{:>12}{:>12}{:>13.0f}{:>13}{:>12.6f}{:>8.3f}\n", m,
                       recompute ? "full" : "none", counted.activations, f.peak(recompute), counted.flops,
                       m * (passes * shape.layers * f.block_flops + 3 * f.head_flops), counted.milliseconds,
                       counted.loss);
        }
}

}  // namespace

int main()
try {
    print_model_memory();
    print_passes();
} catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
