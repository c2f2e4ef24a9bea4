// Checkpoints: a model and the state of its training, as files.
//
//   FOLDER/step-00000100/
//     model.safetensors      the parameters in the model's dtype, with the names and shapes of Hugging Face's
//                            GPT2LMHeadModel ("transformer.h.0.attn.c_attn.weight", in x out); the output
//                            layer is left out, being the token embedding
//     config.json            GPT2Config
//     optimizer.safetensors  "m.NAME", "v.NAME" and, for 16-bit parameters, "master.NAME"
//     training.json          step, optimizer step, seed, dtype, loss scale, version
//
// or, with one file for each rank in place of the two safetensors files, as sharded.hpp says.
#pragma once

#include <filesystem>

#include "lessons/02_training_step/mixed_precision.hpp"
#include "lib/machine/base/model_shape.hpp"
#include "lib/tools/train/checkpoint_json.hpp"

namespace shardlings {

/// Saves a step under `folder`, which is made when it is not there, and returns the step's folder. However
/// the process ends, that folder is whole or not there (or, when this step had been saved before, as it was).
/// `state.optimizer_step` and `state.dtype` are taken from `states` and `parameters`. Error when it cannot
/// be written; then nothing of it is left.
std::filesystem::path save_checkpoint(const std::filesystem::path& folder, const ModelShape& shape,
                                      const FlatParameters& parameters,
                                      const training::OptimizerStates& states, TrainingState state);

struct LoadedCheckpoint {
    std::filesystem::path folder;  // of the step that was loaded
    bool resumable = false;  // optimizer states and `state` were there; if not, both are as at the start
    TrainingState state;
};

/// Loads a step folder, whole or in shards, the newest complete step of a folder of steps, or a folder or
/// file of Hugging Face's GPT-2. Every number is rounded from the file's dtype to that of where it goes, and
/// comes from the most precise copy that is there: from the master weights rather than from a 16-bit
/// parameter.
///
/// `states` may be nullptr: the parameters alone are loaded. Where the files have no optimizer states they
/// become m = v = 0, step 0.
///
/// Errors, each naming the file: nothing there, truncated, of another format, a missing tensor, another shape
/// than `shape`, NaN or infinity, files that do not belong together. What was loaded by then is overwritten.
LoadedCheckpoint load_checkpoint(const std::filesystem::path& path, const ModelShape& shape,
                                 FlatParameters& parameters, training::OptimizerStates* states);

/// The shape of the model at `path` (as for load_checkpoint). Error when there is no config.json.
ModelShape read_model_shape(const std::filesystem::path& path);

/// The dtype of its parameters.
DType read_model_dtype(const std::filesystem::path& path);

}  // namespace shardlings
