// The two JSON files of a checkpoint: config.json, as Hugging Face's GPT2Config reads it, and training.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "lessons/02_training_step/mixed_precision.hpp"
#include "lib/machine/base/dtype.hpp"
#include "lib/machine/base/model_shape.hpp"

namespace shardlings {

struct ModelConfig {
    ModelShape shape;
    std::optional<DType> dtype;  // of the file's tensors, when it says so
};

void write_model_config(const std::filesystem::path& path, const ModelShape& shape, DType dtype);

/// Error naming the file when it cannot be read, is no GPT-2, or one that this project's model does not
/// compute: another activation, MLP width or layer norm epsilon, an output layer of its own.
ModelConfig read_model_config(const std::filesystem::path& path);

struct TrainingState {
    std::int64_t step = 0;            // training steps done, skipped ones too
    std::int64_t optimizer_step = 0;  // updates done
    std::uint64_t seed = 1;
    DType dtype = DType::fp32;
    training::LossScale loss_scale;
};

void write_training_state(const std::filesystem::path& path, const TrainingState& state);

/// Error naming the file when it cannot be read, lacks something, or has another version.
TrainingState read_training_state(const std::filesystem::path& path);

}  // namespace shardlings
