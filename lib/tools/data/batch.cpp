#include "lib/tools/data/batch.hpp"

#include <algorithm>
#include <limits>

#include "lib/machine/base/counted.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/machine/tensor/random.hpp"

namespace shardlings {

namespace {

Batch empty_batch(std::int64_t sequences, std::int64_t tokens)
{
    check(sequences >= 1 && tokens >= 1, "a batch of {} sequences of {} tokens: at least 1 of each",
          sequences, tokens);
    check(sequences <= std::numeric_limits<std::int32_t>::max() / tokens,
          "a batch of {} sequences of {} tokens is too large: at most 2^31 - 1 tokens", sequences, tokens);
    const auto size = static_cast<std::size_t>(sequences * tokens);
    return {sequences, tokens, std::vector<std::int32_t>(size, 0), std::vector<std::int32_t>(size, -1)};
}

/// Sequence b = the T bytes from `start` on, as far as the text goes.
void fill_sequence(Batch& batch, std::int64_t b, std::span<const std::uint8_t> text, std::int64_t start)
{
    const std::int64_t count = std::min(batch.tokens, static_cast<std::int64_t>(text.size()) - 1 - start);
    for (std::int64_t t = 0; t < count; ++t) {
        const auto to = static_cast<std::size_t>(b * batch.tokens + t);
        const auto from = static_cast<std::size_t>(start + t);
        batch.inputs[to] = text[from];
        batch.targets[to] = text[from + 1];
    }
}

}  // namespace

std::int64_t Batch::counted() const
{
    return std::count_if(targets.begin(), targets.end(), [](std::int32_t target) { return target >= 0; });
}

MicroBatch Batch::view() const
{
    const std::int64_t count = counted();
    return {sequences, tokens, inputs, targets, count > 0 ? 1.0 / static_cast<double>(count) : 0.0};
}

void check_vocabulary(std::int64_t vocabulary)
{
    check(vocabulary >= byte_vocabulary,
          "a vocabulary of {} is too small: tokens are bytes, at least {} entries are needed", vocabulary,
          byte_vocabulary);
}

void check_long_enough(const Text& text, std::int64_t tokens)
{
    const auto check_split = [&](const char* name, std::size_t size) {
        check(static_cast<std::int64_t>(size) > tokens,
              "the {} split of {} has {}: a sequence of {} needs {}, choose a longer text or a "
              "smaller --seq",
              name, text.origin(), counted(size, "byte"), counted(tokens, "token"), tokens + 1);
    };
    check_split("training", text.training().size());
    check_split("validation", text.validation().size());
}

Batch make_batch(const Text& text, std::uint64_t seed, std::int64_t step, std::int64_t sequences,
                 std::int64_t tokens)
{
    Batch batch = empty_batch(sequences, tokens);
    check_long_enough(text, tokens);
    check(step >= 0, "step {}: expected 0 or more", step);
    const RandomStream starts(seed, "data");
    const std::uint64_t places = text.training().size() - static_cast<std::uint64_t>(tokens);
    for (std::int64_t b = 0; b < sequences; ++b) {
        const std::uint64_t index = static_cast<std::uint64_t>(step) * static_cast<std::uint64_t>(sequences) +
                                    static_cast<std::uint64_t>(b);
        fill_sequence(batch, b, text.training(), static_cast<std::int64_t>(starts.bits(index) % places));
    }
    return batch;
}

std::int64_t validation_batches(const Text& text, std::int64_t sequences, std::int64_t tokens)
{
    check_long_enough(text, tokens);
    const std::int64_t targets = static_cast<std::int64_t>(text.validation().size()) - 1;
    const std::int64_t windows = (targets + tokens - 1) / tokens;
    return (windows + sequences - 1) / sequences;
}

Batch make_validation_batch(const Text& text, std::int64_t index, std::int64_t sequences, std::int64_t tokens)
{
    Batch batch = empty_batch(sequences, tokens);
    const std::int64_t count = validation_batches(text, sequences, tokens);
    check(index >= 0 && index < count, "validation batch {}: expected 0 to {}", index, count - 1);
    for (std::int64_t b = 0; b < sequences; ++b)
        fill_sequence(batch, b, text.validation(), (index * sequences + b) * tokens);
    return batch;
}

}  // namespace shardlings
