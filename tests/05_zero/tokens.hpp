// Batches of random tokens, made alike by the driver that runs the code and by the judge.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/machine/base/model_shape.hpp"
#include "lib/machine/nn/module.hpp"
#include "lib/machine/tensor/random.hpp"

namespace zero_test {

using namespace shardlings;

/// The global batch of one step. One target in five does not count, so ranks count unequal numbers.
struct Tokens {
    std::int64_t sequences, tokens;
    std::vector<std::int32_t> inputs, targets;

    Tokens(const ModelShape& shape, std::int64_t sequences_of_batch, std::uint64_t seed, std::int64_t step)
        : sequences(sequences_of_batch), tokens(shape.sequence)
    {
        const RandomStream stream(seed, fmt::format("tokens of step {}", step));
        const auto vocabulary = static_cast<std::uint64_t>(shape.vocabulary);
        for (std::int64_t i = 0; i < sequences * tokens; ++i) {
            const std::uint64_t bits = stream.bits(static_cast<std::uint64_t>(i));
            inputs.push_back(static_cast<std::int32_t>(bits % vocabulary));
            const auto target = static_cast<std::int32_t>((bits >> 20) % vocabulary);
            targets.push_back((bits >> 40) % 5 == 0 && i > 0 ? -1 : target);
        }
    }

    MicroBatch global() const { return {sequences, tokens, inputs, targets, 0.0, 0}; }
};

}  // namespace zero_test
