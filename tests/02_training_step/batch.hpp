// Batches of tokens, some of which do not count, and comparisons of lists.
#pragma once

#include <algorithm>

#include "tests/02_training_step/support.hpp"

namespace training_test {

inline constexpr std::int32_t vocabulary = 11;

struct Batch {
    std::int64_t sequences, tokens, micro_batches;
    std::vector<std::int32_t> inputs, targets;

    double counted() const
    {
        return static_cast<double>(std::ranges::count_if(targets, [](int target) { return target >= 0; }));
    }
    json as_json() const
    {
        return {{"sequences", sequences},
                {"tokens", tokens},
                {"micro_batches", micro_batches},
                {"inputs", inputs},
                {"targets", targets}};
    }
    std::string name() const
    {
        return fmt::format("{} sequences of {} tokens, {} counted, in {} micro-batches", sequences, tokens,
                           counted(), micro_batches);
    }
};

/// A batch of which the first `masked` targets do not count, so that micro-batches count unequal numbers.
inline Batch make_batch(std::int64_t sequences, std::int64_t tokens, std::int64_t micro_batches,
                        std::int64_t masked)
{
    Batch batch{sequences, tokens, micro_batches, {}, {}};
    const std::string name = fmt::format("{} {} {}", sequences, tokens, masked);
    batch.inputs = random_ids(name + " inputs", sequences * tokens, vocabulary);
    batch.targets = random_ids(name + " targets", sequences * tokens, vocabulary);
    std::fill_n(batch.targets.begin(), masked, -1);
    return batch;
}

/// `count` times `value`.
inline std::vector<double> repeated(std::int64_t count, double value)
{
    return std::vector<double>(static_cast<std::size_t>(count), value);
}

/// Empty when a list of numbers is as expected; else how long it is, or its first wrong number.
inline std::string compare_list(const std::string& name, const json& got, const std::vector<double>& expected)
{
    const auto values = got.get<std::vector<double>>();
    if (values.size() != expected.size())
        return fmt::format("{} has {} numbers, expected {}", name, values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] != expected[i])
            return compare_number(fmt::format("{}[{}]", name, i), values[i], expected[i], {});
    return "";
}

}  // namespace training_test
