// Parts of the model's parameters as the ranks of a grid hold them, against the whole.
#pragma once

#include <cmath>
#include <map>

#include "tests/06_pipeline/gpt_reference.hpp"

namespace grid_test {

using namespace grade;

/// Degrees, and what else decides what a rank has.
struct GridRun {
    int pp = 1, dp = 1, tp = 1;
    int zero = 0;
    std::vector<std::int64_t> blocks{};  // of every chunk of the model
    std::int64_t bucket_bytes = 1;
    bool sequence_parallel = false;
    DType dtype = DType::fp64;

    int ranks() const { return pp * dp * tp; }
    /// (pp, dp, tp) of a rank.
    std::array<int, 3> at(int rank) const { return {rank / (dp * tp), rank / tp % dp, rank % tp}; }
    bool on_an_end(int rank) const { return at(rank)[0] == 0 || at(rank)[0] == pp - 1; }
    /// Heads that 1 to 4 tensor-parallel ranks share, and a vocabulary that 2, 3 and 4 do not divide.
    ModelShape shape() const
    {
        std::int64_t layers = 0;
        for (const std::int64_t count : blocks) layers += count;
        return {layers, 12, tp == 4 ? 4 : 6, 5, 13};
    }
    std::string name() const
    {
        return fmt::format("pp {} x dp {} x tp {}, ZeRO {}{}", pp, dp, tp, zero,
                           sequence_parallel ? ", sequence-parallel" : "");
    }
    json inputs() const
    {
        json inputs = pipeline_test::shape_inputs(shape());
        inputs.update({{"pp", pp},
                       {"dp", dp},
                       {"tp", tp},
                       {"zero", zero},
                       {"blocks", blocks},
                       {"bucket_bytes", bucket_bytes},
                       {"sequence_parallel", sequence_parallel},
                       {"dtype", shardlings::name_of(dtype)}});
        return inputs;
    }
};

/// By the parameters' names.
using Numbers = std::map<std::string, std::vector<double>>;

inline Numbers numbers_of(const FlatParameters& flat, Tensor Parameter::*tensor)
{
    Numbers numbers;
    for (const FlatEntry& entry : flat.layout().entries)
        numbers[entry.parameter->name] = to_doubles((*entry.parameter).*tensor);
    return numbers;
}

inline Slice slice_of(const json& numbers)
{
    const auto all = numbers.get<std::vector<std::int64_t>>();
    const auto count = static_cast<std::ptrdiff_t>(all.size() / 3);
    const auto part = [&](std::ptrdiff_t third) {
        return Shape(all.begin() + count * third, all.begin() + count * (third + 1));
    };
    return {part(0), part(1), part(2)};
}

/// `whole` in the order of the elements of the slice.
inline std::vector<double> cut(const Slice& slice, const std::vector<double>& whole)
{
    std::vector<double> own(static_cast<std::size_t>(elements_of(slice.shape)));
    slice.for_each_run([&](std::int64_t local, std::int64_t global, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i)
            own[static_cast<std::size_t>(local + i)] = whole[static_cast<std::size_t>(global + i)];
    });
    return own;
}

inline double largest_of(const std::vector<double>& numbers)
{
    double largest = 0.0;
    for (const double number : numbers) largest = std::max(largest, std::abs(number));
    return largest;
}

/// What a rank holds of `what` ("value", "gradient 0"), against the whole: the error may be `tolerance` times
/// the largest number of the parameter, or nothing when that is 0. A message for each that differs.
inline std::vector<std::string> compare_held(const std::string& what, const json& out, const Numbers& whole,
                                             double tolerance)
{
    std::vector<std::string> messages;
    std::size_t held = 0;
    for (const auto& [name, numbers] : whole) {
        const std::string key = what + " " + name;
        if (!out.contains(key)) continue;
        const auto got = out.at(key).get<std::vector<double>>();
        const auto first = out.at("first " + key).get<std::size_t>();
        const std::vector<double> own = cut(slice_of(out.at("slice " + name)), numbers);
        const auto begin = own.begin() + static_cast<std::ptrdiff_t>(first);
        const std::vector<double> expected(begin, begin + static_cast<std::ptrdiff_t>(got.size()));
        const Shape shape{static_cast<std::int64_t>(got.size())};
        ++held;
        messages.push_back(compare("the " + key, tensor_input(shape, DType::fp64, got),
                                   tensor_input(shape, DType::fp64, expected),
                                   {0.0, tolerance * largest_of(numbers)}));
    }
    if (held == 0) messages.push_back("there is no " + what);
    std::erase(messages, "");
    return messages;
}

/// The two copies of the token embedding, on the first and the last stage, must be bitwise equal.
inline std::vector<std::string> compare_copies(const GridRun& run, const std::string& what,
                                               const CaseResult& result)
{
    std::vector<std::string> messages;
    const int last = (run.pp - 1) * run.dp * run.tp;
    const std::string key = what + " wte.weight";
    for (int rank = 0; last > 0 && rank < run.dp * run.tp; ++rank) {
        const json& first = result.ranks[static_cast<std::size_t>(rank)].outputs;
        const json& other = result.ranks[static_cast<std::size_t>(last + rank)].outputs;
        if (first.value(key, json()) != other.value(key, json()))
            messages.push_back(
                fmt::format("the {} differs between rank {} of the first stage and rank {} of "
                            "the last: the copies of the tied embedding drift apart",
                            key, rank, last + rank));
    }
    return messages;
}

}  // namespace grid_test
