// Batches: B sequences of T bytes cut out of a text, with the byte that follows each.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/machine/nn/module.hpp"
#include "lib/tools/data/text.hpp"

namespace shardlings {

/// A token is a byte.
inline constexpr std::int64_t byte_vocabulary = 256;

/// B x T token ids, row-major: targets[b, t] is the byte that follows inputs[b, t], −1 where none is counted.
struct Batch {
    std::int64_t sequences = 0;
    std::int64_t tokens = 0;
    std::vector<std::int32_t> inputs;
    std::vector<std::int32_t> targets;

    /// The number of targets that are not −1.
    std::int64_t counted() const;
    /// A view of this batch, which must outlive it; token_weight is 1 / counted().
    MicroBatch view() const;
};

/// Error unless the model's vocabulary has an entry for every byte.
void check_vocabulary(std::int64_t vocabulary);

/// Error unless both splits of the text have a sequence of T tokens and the byte after it.
void check_long_enough(const Text& text, std::int64_t tokens);

/// The global batch of a training step (0, 1, …). Sequence b starts at number step · B + b of the stream
/// "data" of `seed`, modulo the n − T places of the training split at which T + 1 bytes begin: it depends on
/// the text, the seed and the step only. (The modulo favours the first places by less than n / 2^64.)
Batch make_batch(const Text& text, std::uint64_t seed, std::int64_t step, std::int64_t sequences,
                 std::int64_t tokens);

/// How many batches of B sequences the validation split gives.
std::int64_t validation_batches(const Text& text, std::int64_t sequences, std::int64_t tokens);

/// Validation batch `index`: windows index · B, index · B + 1, … of the split, where window i has the inputs
/// [i T, i T + T). All batches together have every byte of the split but its first as a target once; behind
/// its end the inputs are 0 and the targets −1. So the mean over the split is Σ_batches loss · counted() /
/// Σ_batches counted().
Batch make_validation_batch(const Text& text, std::int64_t index, std::int64_t sequences,
                            std::int64_t tokens);

}  // namespace shardlings
