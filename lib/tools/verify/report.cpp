#include "lib/tools/verify/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <set>

#include "lib/machine/base/units.hpp"
#include "lib/tools/verify/bounds.hpp"

namespace shardlings::verify {

namespace {

constexpr std::size_t shown = 3;  // wrong cases, of the smallest p: on which ranks it depends

struct Condition {
    std::string_view text;
    std::function<bool(const Case&)> holds;
};

std::vector<Condition> conditions()
{
    return {
        {"p is not a power of two",
         [](const Case& c) { return !std::has_single_bit(static_cast<unsigned>(c.ranks)); }},
        {"p = 1", [](const Case& c) { return c.ranks == 1; }},
        {"p > 2", [](const Case& c) { return c.ranks > 2; }},
        {"n = 0", [](const Case& c) { return c.length == 0; }},
        {"n < p", [](const Case& c) { return c.length < c.ranks; }},
        {"p does not divide n", [](const Case& c) { return c.length % c.ranks != 0; }},
        {"the dtype is fp64", [](const Case& c) { return c.dtype == DType::fp64; }},
        {"the dtype is fp32", [](const Case& c) { return c.dtype == DType::fp32; }},
        {"the dtype is bf16", [](const Case& c) { return c.dtype == DType::bf16; }},
        {"the dtype is fp16", [](const Case& c) { return c.dtype == DType::fp16; }},
        {"the dtype has 16 bits", [](const Case& c) { return is_sixteen_bit(c.dtype); }},
        {"the dtype is not fp64", [](const Case& c) { return c.dtype != DType::fp64; }},
        {"the dtype is not fp32", [](const Case& c) { return c.dtype != DType::fp32; }},
        {"sums are rounded", [](const Case& c) { return c.values == Values::rounded; }},
        {"it is called twice on a buffer", [](const Case& c) { return c.calls > 1; }},
        {"ranks of the group are not those of the world",
         [](const Case& c) { return c.members == Members::last_reversed; }},
        {"the root is not rank 0", [](const Case& c) { return c.root != 0; }},
    };
}

std::string ratio(double value, double bound)
{
    return bound > 0.0 ? fmt::format("{:.2f}", value / bound) : "-";
}

}  // namespace

std::string common_condition(const std::vector<Verdict>& verdicts)
{
    std::string narrowest;
    std::ptrdiff_t fewest = std::ranges::count_if(verdicts, [](const Verdict&) { return true; });
    for (const Condition& condition : conditions()) {
        const bool all = std::ranges::all_of(
            verdicts, [&](const Verdict& v) { return v.wrong.empty() || condition.holds(v.one); });
        const auto cases =
            std::ranges::count_if(verdicts, [&](const Verdict& v) { return condition.holds(v.one); });
        if (!all || cases >= fewest) continue;
        narrowest = condition.text;
        fewest = cases;
    }
    return narrowest;
}

std::string verdict_text(Collective kind, const std::vector<Verdict>& verdicts, int world)
{
    const auto wrong = static_cast<std::size_t>(
        std::ranges::count_if(verdicts, [](const Verdict& v) { return !v.wrong.empty(); }));
    if (wrong == 0) {
        std::string text =
            fmt::format("RIGHT: this {} holds in all {} cases", name_of(kind), verdicts.size());
        if (kind != Collective::reduce_scatter) text += ". Bitwise the same on all ranks: yes";
        return text + ". Bitwise the same when run again: yes.\n";
    }
    const std::string condition = common_condition(verdicts);
    std::string text =
        fmt::format("WRONG: this {} fails {} of {} cases", name_of(kind), wrong, verdicts.size());
    if (!condition.empty()) text += fmt::format(", all of them where {}", condition);
    text += ". The first of each p:\n";
    std::set<int> told;
    for (const Verdict& verdict : verdicts)
        if (!verdict.wrong.empty() && told.size() < shown && told.insert(verdict.one.ranks).second)
            text += fmt::format("  {}: {}\n", describe(kind, verdict.one, world), verdict.wrong);
    return text;
}

Cost cost_of(const Case& one, const std::vector<RankResult>& results)
{
    Cost cost;
    cost.ranks = one.ranks;
    for (const RankResult& result : results) {
        cost.messages += result.observed.messages;
        cost.bytes += result.observed.bytes;
        cost.seconds = std::max(cost.seconds, result.observed.seconds);
        cost.memory = std::max(cost.memory, result.observed.peak);
    }
    return cost;
}

std::string cost_table(Collective kind, std::int64_t length, DType dtype, const Link& link,
                       const std::vector<Cost>& costs)
{
    const auto bytes = static_cast<double>(length) * static_cast<double>(size_of(dtype));
    std::string text = fmt::format(
        "n = {} {} ({}), alpha = {}, 1/beta = {:.4g} GB/s\n", length, shardlings::name_of(dtype),
        format_bytes(static_cast<std::uint64_t>(bytes)), format_seconds(link.latency), link.bandwidth / 1e9);
    text +=
        fmt::format("{:>3} {:>9} {:>10} {:>10} {:>8} {:>10} {:>10} {:>10} {:>8} {:>10}\n", "p", "messages",
                    "elements", "least", "x least", "time", "latency", "bandwidth", "x bound", "memory");
    for (const Cost& cost : costs) {
        const double elements = static_cast<double>(cost.bytes) / static_cast<double>(size_of(dtype));
        const double least = least_elements(kind, cost.ranks, static_cast<double>(length));
        const double latency = latency_bound(cost.ranks, link);
        const double bandwidth = bandwidth_bound(kind, cost.ranks, bytes, link);
        text += fmt::format("{:>3} {:>9} {:>10.0f} {:>10.0f} {:>8} {:>10} {:>10} {:>10} {:>8} {:>10}\n",
                            cost.ranks, cost.messages, elements, least, ratio(elements, least),
                            format_seconds(cost.seconds), format_seconds(latency), format_seconds(bandwidth),
                            ratio(cost.seconds, std::max(latency, bandwidth)), format_bytes(cost.memory));
    }
    return text;
}

std::string cost_legend(Collective kind)
{
    return fmt::format(
        "messages, elements: sent by all ranks; least: {}, which no algorithm sends less than.\n"
        "time: virtual, of the slowest rank, and beside it what it cannot be below: latency, ceil(log2 p) "
        "alpha, and\n"
        "bandwidth, {} (Chan et al. 2007; Patarasuk and Yuan 2009); x bound: of the larger of them.\n"
        "memory: most that a rank had of comm.device().allocate(); memory of the host, as std::vector, is "
        "not "
        "counted.\n",
        least_elements_formula(kind), bandwidth_formula(kind));
}

}  // namespace shardlings::verify
