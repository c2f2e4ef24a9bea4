// 06.3 A stage: the modules of one device of a pipeline.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "lib/machine/base/model_shape.hpp"
#include "lib/machine/comm/comm.hpp"
#include "lib/machine/nn/module.hpp"

namespace pipeline {

using namespace shardlings;

/// Makes the modules of which a model is the chain: lesson 01's, or others of the same kind (lesson 08's).
struct ModelParts {
    std::function<std::unique_ptr<Module>(bool tied)> embedding;  // "wte.weight" is its first parameter
    std::function<std::unique_ptr<Module>(std::int64_t layer)> block;
    std::function<std::unique_ptr<Module>(Parameter& token_embedding)> head;
    std::int64_t layers = 0;
    int row_shards = 1;  // devices that share the rows between modules (lesson 08's sequence parallelism)
};

/// Lesson 01's.
ModelParts gpt_parts(const ModelShape& shape);

/// Modules [first, last) of Stage::modules.
struct ModuleRange {
    std::size_t first;
    std::size_t last;
};

/// The modules of a device, in the model's order, and which of them each chunk runs. With several stages, the
/// first and the last one each have a copy of the token embedding "wte.weight"; the module that stands for it
/// comes first, is in no chunk, and is the owner of the parameter for the buckets.
struct Stage {
    Modules modules;
    std::vector<ModuleRange> chunks;
    Parameter* tied_embedding = nullptr;  // on the first and the last of several stages
    int tied_peer = -1;                   // the stage with the other copy
    int row_shards = 1;                   // as ModelParts'
};

/// Stage `stage` of `stages` of the model of these parts. `blocks`: how many blocks each chunk of the model
/// has (their number is a multiple of `stages`). The embedding goes to the first chunk, the head to the last.
/// Error when the blocks do not add up to the model's.
Stage make_stage(const ModelParts& parts, std::span<const std::int64_t> blocks, int stages, int stage);

/// Adds up the gradients of the two copies of the tied embedding: the peer's gradient is added to the own
/// one, on both, so that both are bitwise head + lookup, as in a single process. Nothing on a stage without a
/// copy. `pipeline`: the stages, by rank. Memory of the category communication for one gradient, freed at the
/// end.
void add_tied_gradients(Comm& pipeline, Stage& stage);

}  // namespace pipeline
