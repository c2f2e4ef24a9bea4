// A small GPT in a single process, on the judging side: what every pipeline has to give, bit by bit.
#pragma once

#include <cmath>
#include <map>

#include "lessons/01_transformer/model.hpp"
#include "lessons/02_training_step/accumulation.hpp"
#include "tests/06_pipeline/parameters.hpp"
#include "tests/lib/run_and_check.hpp"

namespace pipeline_test {

using namespace grade;

/// A batch of tokens, of which the first `masked` targets do not count, so that micro-batches count unequally
/// many.
struct Batch {
    std::int64_t sequences = 0, tokens = 0, micro_batches = 1;
    std::vector<std::int32_t> inputs{}, targets{};

    MicroBatch whole() const { return {sequences, tokens, inputs, targets, 0.0, 0}; }
    json as_json() const
    {
        return {{"sequences", sequences},
                {"tokens", tokens},
                {"micro_batches", micro_batches},
                {"inputs", inputs},
                {"targets", targets}};
    }
};

/// Whole numbers in [0, limit), reproducible from the seed and the name.
inline std::vector<std::int32_t> random_ids(const std::string& name, std::int64_t count, std::int64_t limit)
{
    std::vector<std::int32_t> ids;
    for (const double value : random_values(name, count, DType::fp64, 1e6))
        ids.push_back(static_cast<std::int32_t>(std::llround(std::abs(value)) % limit));
    return ids;
}

inline Batch make_batch(std::int64_t sequences, std::int64_t micro_batches, const ModelShape& shape,
                        std::int64_t masked)
{
    Batch batch{sequences, shape.sequence, micro_batches};
    const std::int64_t count = sequences * shape.sequence;
    const std::string name = fmt::format("{} {} {}", sequences, micro_batches, shape.sequence);
    batch.inputs = random_ids(name + " inputs", count, shape.vocabulary);
    batch.targets = random_ids(name + " targets", count, shape.vocabulary);
    std::fill_n(batch.targets.begin(), masked, -1);
    return batch;
}

/// make_gpt with the memory of its parameters, initialised.
struct Gpt {
    Device device{DeviceOptions{}};
    Modules modules;
    FlatParameters flat;

    Gpt(const ModelShape& shape, DType dtype)
        : modules(transformer::make_gpt(shape)),
          flat(device, make_flat_layout(parameters_of(modules), 1), dtype)
    {
        for (const FlatEntry& entry : flat.layout().entries) initialise(*entry.parameter, initial_seed);
    }
};

inline json shape_inputs(const ModelShape& shape)
{
    return {{"layers", shape.layers},
            {"hidden", shape.hidden},
            {"heads", shape.heads},
            {"tokens", shape.sequence},
            {"vocabulary", shape.vocabulary}};
}

}  // namespace pipeline_test
