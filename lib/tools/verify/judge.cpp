#include "lib/tools/verify/judge.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "lib/machine/base/counted.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/machine/tensor/tensor.hpp"

namespace shardlings::verify {

namespace {

ConstBuffer buffer_of_result(const Case& one, const RankResult& result)
{
    return {result.values.data(), one.length, one.dtype};
}

std::vector<double> numbers_of(const Case& one, const RankResult& result)
{
    std::vector<double> numbers(static_cast<std::size_t>(one.length));
    if (!numbers.empty()) convert(buffer_of_result(one, result), buffer_of(std::span(numbers)));
    return numbers;
}

std::string judge_guards(const std::vector<RankResult>& results)
{
    for (std::size_t rank = 0; rank < results.size(); ++rank) {
        const auto& [observed, values] = results[rank];
        if (observed.behind > 0)
            return fmt::format("rank {} wrote up to {} past the end of the buffer", rank,
                               counted(observed.behind, "element"));
        if (observed.before > 0)
            return fmt::format("rank {} wrote up to {} before the begin of the buffer", rank,
                               counted(observed.before, "element"));
    }
    return "";
}

/// The first wrong element of each rank and how many there are.
struct WrongElements {
    std::int64_t first = -1;
    double got = 0.0;
    std::int64_t count = 0;
};

std::vector<WrongElements> find_wrong(const Case& one, const Contributions& values,
                                      const std::vector<RankResult>& results)
{
    std::vector<std::vector<double>> got;
    for (const RankResult& result : results) got.push_back(numbers_of(one, result));
    std::vector<WrongElements> wrong(results.size());
    for (std::int64_t i = 0; i < one.length; ++i) {
        const double expected = values.expected(i);
        const double tolerance = values.tolerance(i);
        for (std::size_t rank = 0; rank < results.size(); ++rank) {
            const double number = got[rank][static_cast<std::size_t>(i)];
            if (std::abs(number - expected) <= tolerance || !values.defined(static_cast<int>(rank), i))
                continue;
            if (wrong[rank].count++ == 0) wrong[rank] = {i, number, 1};
        }
    }
    return wrong;
}

std::string judge_values(const Case& one, const Contributions& values, const std::vector<RankResult>& results)
{
    const std::vector<WrongElements> wrong = find_wrong(one, values, results);
    std::vector<std::size_t> ranks;
    for (std::size_t rank = 0; rank < wrong.size(); ++rank)
        if (wrong[rank].count > 0) ranks.push_back(rank);
    if (ranks.empty()) return "";
    const std::size_t rank = ranks.front();
    const auto& [first, got, count] = wrong[rank];
    std::string text =
        fmt::format("rank {}, element {}: expected {}, got {}", rank, first, values.expected(first), got);
    if (values.tolerance(first) > 0.0)
        text += fmt::format(" (off by {:.3g}, p - 1 roundings allow {:.3g})",
                            std::abs(got - values.expected(first)), values.tolerance(first));
    if (const std::string cause = values.cause(static_cast<int>(rank), first, got); !cause.empty())
        text += ": " + cause;
    text += fmt::format("; {} of {} elements wrong there", count, one.length);
    if (ranks.size() == results.size()) return text + ", and so on every rank";
    return text + (ranks.size() == 1 ? ", on no other rank"
                                     : fmt::format(", wrong on ranks {}", fmt::join(ranks, " ")));
}

std::string bits_of(const Case& one, const RankResult& result, std::int64_t element)
{
    const ConstBuffer all = buffer_of_result(one, result);
    const ConstBuffer part = all.part(element, 1);
    std::string digits;
    for (std::size_t i = part.bytes(); i > 0; --i)
        digits += fmt::format("{:02x}", std::to_integer<unsigned>(part.data[i - 1]));
    return digits;
}

std::string judge_bits(const Case& one, const std::vector<RankResult>& results)
{
    for (std::size_t rank = 1; rank < results.size(); ++rank) {
        const auto at = std::ranges::mismatch(results[0].values, results[rank].values).in1;
        if (at == results[0].values.end()) continue;
        const std::int64_t element =
            (at - results[0].values.begin()) / static_cast<std::int64_t>(size_of(one.dtype));
        return fmt::format(
            "not bitwise the same on all ranks: element {} has the bits {} on rank 0 and {} on rank {}: do "
            "all "
            "ranks add in the same order?",
            element, bits_of(one, results[0], element), bits_of(one, results[rank], element), rank);
    }
    return "";
}

std::string judge_again(const std::vector<RankResult>& results)
{
    for (std::size_t rank = 0; rank < results.size(); ++rank)
        if (const std::int64_t element = results[rank].observed.other_again; element >= 0)
            return fmt::format(
                "not bitwise the same on a second run with the same values: rank {}, element {}: does "
                "something "
                "of the first run live on?",
                rank, element);
    return "";
}

std::string judge_memory(const std::vector<RankResult>& results)
{
    for (std::size_t rank = 0; rank < results.size(); ++rank)
        if (results[rank].observed.kept > 0)
            return fmt::format("rank {} still holds {} of device memory when the function has returned", rank,
                               format_bytes(results[rank].observed.kept));
    return "";
}

}  // namespace

std::string judge(Collective kind, const Case& one, const std::vector<RankResult>& results)
{
    if (std::string wrong = judge_guards(results); !wrong.empty()) return wrong;
    if (std::string wrong = judge_values(one, Contributions(kind, one), results); !wrong.empty())
        return wrong;
    // A reduce-scatter leaves other chunks on other ranks.
    if (kind != Collective::reduce_scatter)
        if (std::string wrong = judge_bits(one, results); !wrong.empty()) return wrong;
    if (std::string wrong = judge_again(results); !wrong.empty()) return wrong;
    return judge_memory(results);
}

}  // namespace shardlings::verify
