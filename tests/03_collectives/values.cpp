// What a wrong value is: first wrong element, whose values it holds, what that usually means.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/03_collectives/run.hpp"

namespace collectives_test {

namespace {

std::vector<double> as_doubles(const std::byte* data, std::int64_t n, DType dtype)
{
    std::vector<double> values(static_cast<std::size_t>(n));
    convert(ConstBuffer{data, n, dtype}, Buffer{reinterpret_cast<std::byte*>(values.data()), n, DType::fp64});
    return values;
}

double element(const std::vector<std::byte>& values, std::int64_t i, DType dtype)
{
    return as_doubles(values.data() + static_cast<std::size_t>(i) * size_of(dtype), 1, dtype)[0];
}

/// How often `sum` holds each rank's digit: "it holds rank 1's value 2 times and rank 3's 0 times". Empty
/// when it is no such sum, or holds each once.
std::string digits_text(double sum, double base, std::size_t ranks)
{
    std::string text;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const double times = std::fmod(sum, base);
        sum = std::floor(sum / base);
        if (times != 1.0)
            text +=
                fmt::format("{} rank {}'s value {} times", text.empty() ? "; it holds" : ",", rank, times);
    }
    return sum == 0.0 ? text : "";
}

/// What is at element i of rank `rank` when the values were made of digits.
std::string digits_cause(const Run& run, std::size_t ranks, std::int64_t i, double got, double expected)
{
    const double base = run.pattern().base;
    const auto weight = static_cast<double>(i + 1);
    const double quotient = got / weight;
    const double expected_quotient = expected / weight;
    if (got > 0.0 && quotient == std::floor(quotient)) {
        const std::string text = digits_text(quotient, base, ranks);
        if (!text.empty() && text.size() < 200) return text;
    }
    const double other = got / expected_quotient;
    if (got > 0.0 && other == std::floor(other) && other <= static_cast<double>(run.n))
        return fmt::format("; that belongs to element {}", static_cast<std::int64_t>(other) - 1);
    return "";
}

/// When a random value is, but for rounding, the sum of some of the ranks' values only. Sixteen bits do not
/// tell sums apart.
std::string part_of_sum_text(const RankValues& before, std::int64_t i, DType dtype, double got)
{
    if (is_sixteen_bit(dtype) || before.size() > world_size) return "";
    for (unsigned ranks = 1; ranks + 1 < 1U << before.size(); ++ranks) {
        double sum = 0.0;
        std::string text;
        for (std::size_t rank = 0; rank < before.size(); ++rank) {
            if ((ranks >> rank & 1U) == 0) continue;
            sum += element(before[rank], i, dtype);
            text += (text.empty() ? "" : " ") + std::to_string(rank);
        }
        if (std::abs(got - sum) < 64.0 * epsilon_of(dtype))
            return fmt::format("; it is the sum of ranks {} only", text);
    }
    return "";
}

/// When another chunk than the promised one is complete.
std::string other_chunk_text(const Run& run, const Promise& promise, int p, const std::byte* got)
{
    for (int index = 0; index < p && promise.chunk.count < run.n; ++index) {
        const Chunk chunk = chunk_of(run.n, p, index);
        const auto first = static_cast<std::size_t>(chunk.offset) * size_of(run.dtype);
        const auto bytes = static_cast<std::size_t>(chunk.count) * size_of(run.dtype);
        if (bytes > 0 && std::memcmp(got + first, promise.values.data() + first, bytes) == 0)
            return fmt::format("; its chunk {} is complete instead", index);
    }
    return "";
}

std::string cause(const Run& run, const Group& group, const GroupPromise& promise, int rank, std::int64_t i,
                  double got, double expected)
{
    if (std::isnan(got)) return "; it is memory that was never written";
    const auto before = run.values_before(group);
    const double own = element(before[static_cast<std::size_t>(rank)], i, run.dtype);
    if (got == own) return "; it is still the rank's own value";
    for (std::size_t other = 0; other < group.size(); ++other)
        if (got == element(before[other], i, run.dtype))
            return fmt::format("; it is the value of rank {} alone", other);
    if (!run.random) return digits_cause(run, group.size(), i, got, expected);
    // Sums of p numbers below 1 in any order are less than p² half-epsilons apart.
    const auto p = static_cast<double>(group.size());
    if (!promise.order.empty() && std::abs(got - expected) <= p * p * epsilon_of(run.dtype) / 2.0)
        return "; right but for rounding: " + promise.order;
    return part_of_sum_text(before, i, run.dtype, got);
}

}  // namespace

std::string compare_values(const Run& run, const Group& group, const GroupPromise& promise, int rank,
                           const json& got)
{
    const Promise& expected = promise.ranks[static_cast<std::size_t>(rank)];
    const std::size_t size = size_of(run.dtype);
    const auto* begin = reinterpret_cast<const std::byte*>(got.get_binary().data()) +
                        static_cast<std::size_t>(run.pad) * size;
    const auto first = static_cast<std::size_t>(expected.chunk.offset) * size;
    const auto bytes = static_cast<std::size_t>(expected.chunk.count) * size;
    if (bytes == 0 || std::memcmp(begin + first, expected.values.data() + first, bytes) == 0) return "";
    std::int64_t wrong = 0;
    std::int64_t first_wrong = -1;
    for (std::int64_t i = expected.chunk.offset; i < expected.chunk.offset + expected.chunk.count; ++i) {
        const std::size_t at = static_cast<std::size_t>(i) * size;
        if (std::memcmp(begin + at, expected.values.data() + at, size) == 0) continue;
        ++wrong;
        if (first_wrong < 0) first_wrong = i;
    }
    const double value = as_doubles(begin + static_cast<std::size_t>(first_wrong) * size, 1, run.dtype)[0];
    const double wanted = element(expected.values, first_wrong, run.dtype);
    const auto p = static_cast<int>(group.size());
    int chunk = 0;
    while (chunk_of(run.n, p, chunk).offset + chunk_of(run.n, p, chunk).count <= first_wrong) ++chunk;
    return fmt::format("values[{}] (chunk {} of {}) is {:.9g}, expected {:.9g}; {} of {} elements differ{}{}",
                       first_wrong, chunk, p, value, wanted, wrong, expected.chunk.count,
                       cause(run, group, promise, rank, first_wrong, value, wanted),
                       other_chunk_text(run, expected, p, begin));
}

}  // namespace collectives_test
