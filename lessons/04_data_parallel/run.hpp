// What the programs of this page and the next train: a small model, random bytes, slow devices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lessons/01_transformer/model.hpp"
#include "lessons/02_training_step/accumulation.hpp"
#include "lib/machine/tensor/random.hpp"
#include "lib/tools/train/trainer.hpp"

namespace lesson {

using namespace shardlings;

/// Of sequences of random bytes, the same on every rank; the targets are random too.
class RandomBatch {
  public:
    RandomBatch(std::int64_t sequences, std::int64_t tokens, std::int64_t step)
        : sequences_(sequences), tokens_(tokens)
    {
        const RandomStream stream(static_cast<std::uint64_t>(step), "tokens");
        for (std::int64_t i = 0; i < sequences * tokens; ++i) {
            const std::uint64_t bits = stream.bits(static_cast<std::uint64_t>(i));
            inputs_.push_back(static_cast<std::int32_t>(bits % 256));
            targets_.push_back(static_cast<std::int32_t>(bits / 256 % 256));
        }
    }

    /// The token_weight is set where the batch is cut into parts.
    MicroBatch view() const { return {sequences_, tokens_, inputs_, targets_, 0.0, 0}; }
    /// Token `i` (row-major) has no target.
    void mask(std::int64_t i) { targets_.at(static_cast<std::size_t>(i)) = -1; }

  private:
    std::int64_t sequences_;
    std::int64_t tokens_;
    std::vector<std::int32_t> inputs_;
    std::vector<std::int32_t> targets_;
};

/// Lesson 02's model: everything on one device.
class OneDevice {
  public:
    OneDevice(const ModelShape& shape, DType dtype)
        : modules_(transformer::make_gpt(shape)),
          flat_(device_, make_flat_layout(parameters_of(modules_), 1), dtype)
    {
        for (Parameter* parameter : parameters()) initialise(*parameter, 1);
    }

    std::vector<Parameter*> parameters() const { return parameters_of(modules_); }
    FlatParameters& flat() { return flat_; }

    /// Gradients of the parts' losses, added up; returns the sum of the losses.
    double accumulate(std::span<const MicroBatch> parts)
    {
        flat_.gradients().fill_zero();
        return training::accumulate_gradients(modules_, parts, 1.0);
    }

  private:
    Device device_{DeviceOptions{}};
    Modules modules_;
    FlatParameters flat_;
};

/// 4 blocks, h = 64, 32 tokens, 16 sequences, fp32; each device is a node of its own and does 0.5 TFLOP/s.
inline TrainOptions small_run(int degree)
{
    TrainOptions options;
    options.layout.dp = degree;
    options.shape = {4, 64, 4, 32, 256};
    options.batch = 16;
    options.topology.devices_per_node = 1;
    options.topology.nodes = 8;
    options.topology.flops = 5e11;
    return options;
}

inline DeviceOptions device_options(const TrainOptions& options, int rank)
{
    DeviceOptions device;
    device.rank = rank;
    device.budget = options.budget;
    device.topology = options.topology;
    return device;
}

}  // namespace lesson
