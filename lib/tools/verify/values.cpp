#include "lib/tools/verify/values.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lib/machine/base/rounding.hpp"
#include "lib/machine/tensor/tensor.hpp"

namespace shardlings::verify {

namespace {

constexpr int scales = 11;           // powers of two from 2^-5 to 2^5: with 2^8 in front, all in fp16's range
constexpr double enough_base = 4.0;  // below, a contribution that is there twice looks like the next rank's

double base_of(const Case& one)
{
    const int bits = 1 - std::ilogb(epsilon_of(one.dtype));
    return std::ldexp(1.0, bits / one.ranks);
}

std::vector<double> random_values(const Case& one, int rank)
{
    const RandomStream stream(1, fmt::format("rank {}", rank));
    std::vector<double> values(static_cast<std::size_t>(one.length));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = stream.normal(i);
    std::vector<std::byte> rounded(values.size() * size_of(one.dtype));
    const Buffer buffer{rounded.data(), one.length, one.dtype};
    convert(buffer_of(std::span<const double>(values)), buffer);
    convert(buffer, buffer_of(std::span(values)));
    return values;
}

}  // namespace

Contributions::Contributions(Collective kind, const Case& one)
    : kind_(kind), case_(one), base_(base_of(one)), scales_(1, "scales")
{
    for (int rank = 0; rank < one.ranks; ++rank) {
        weights_.push_back(std::pow(base_, rank));
        if (one.values == Values::rounded) rounded_.push_back(random_values(one, rank));
    }
}

double Contributions::scale(std::int64_t i) const
{
    return std::ldexp(1.0,
                      static_cast<int>(scales_.bits(static_cast<std::uint64_t>(i)) % scales) - scales / 2);
}

double Contributions::contribution(int rank, std::int64_t i) const
{
    if (case_.values == Values::rounded)
        return rounded_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(i)];
    return scale(i) * weights_[static_cast<std::size_t>(rank)];
}

bool Contributions::holds(int rank, std::int64_t i) const
{
    if (kind_ == Collective::all_gather) return chunk(case_, rank).contains(i);
    return kind_ != Collective::broadcast || rank == case_.root;
}

std::vector<double> Contributions::input(int rank) const
{
    std::vector<double> values(static_cast<std::size_t>(case_.length), filler);
    for (std::int64_t i = 0; i < case_.length; ++i)
        if (holds(rank, i)) values[static_cast<std::size_t>(i)] = contribution(rank, i);
    return values;
}

double Contributions::expected(std::int64_t i) const
{
    double result = 0.0;
    const bool exact = case_.values == Values::exact;
    for (int rank = 0; rank < case_.ranks; ++rank)
        if (holds(rank, i))
            result += exact ? weights_[static_cast<std::size_t>(rank)] : contribution(rank, i);
    if (exact) result *= scale(i);
    return kind_ == Collective::all_reduce ? result * std::pow(case_.ranks, case_.calls - 1) : result;
}

double Contributions::tolerance(std::int64_t i) const
{
    if (case_.values == Values::exact || !sums()) return 0.0;
    double magnitude = 0.0;
    for (int rank = 0; rank < case_.ranks; ++rank) magnitude += std::abs(contribution(rank, i));
    const auto relative = [this](DType dtype) {
        const double roundings = (case_.ranks - 1) * unit_roundoff(dtype);
        return roundings / (1.0 - roundings);
    };
    return (relative(case_.dtype) + relative(DType::fp64)) * magnitude;
}

bool Contributions::defined(int rank, std::int64_t i) const
{
    return kind_ != Collective::reduce_scatter || chunk(case_, rank).contains(i);
}

std::string Contributions::cause_in_sum(int rank, double digits) const
{
    if (case_.ranks > 1 && digits == weights_[static_cast<std::size_t>(rank)])
        return "only the rank's own contribution: nothing was added";
    if (base_ < enough_base || digits < 0.0 || digits != std::floor(digits)) return "";
    std::string text;
    double left = digits;
    for (int from = 0; from < case_.ranks; ++from) {
        const double times = std::fmod(left, base_);
        left = std::floor(left / base_);
        if (times == 1.0) continue;
        const std::string_view and_also = text.empty() ? "" : ", ";
        text += times == 0.0
                    ? fmt::format("{}rank {}'s contribution is missing", and_also, from)
                    : fmt::format("{}rank {}'s contribution is in it {} times", and_also, from, times);
    }
    return left == 0.0 ? text : "";
}

std::string Contributions::cause(int rank, std::int64_t i, double got) const
{
    if (std::isnan(got)) return "not a number: was memory read that nobody had written?";
    if (case_.values == Values::rounded || case_.calls > 1) return "";
    if (sums()) return cause_in_sum(rank, got / scale(i));
    if (got == filler) return "what was there before: nothing was received";
    for (int from = 0; from < case_.ranks; ++from)
        if (got == contribution(from, i)) return fmt::format("it is rank {}'s value", from);
    return "";
}

}  // namespace shardlings::verify
