#include "lib/tools/verify/cases.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace shardlings::verify {

std::string_view name_of(Collective kind)
{
    switch (kind) {
        case Collective::all_reduce:
            return "all-reduce";
        case Collective::reduce_scatter:
            return "reduce-scatter";
        case Collective::all_gather:
            return "all-gather";
        case Collective::broadcast:
            return "broadcast";
    }
    return "collective";
}

int world_rank_of(const Case& one, int rank, int world)
{
    return one.members == Members::first ? rank : world - 1 - rank;
}

int group_rank_of(const Case& one, int world_rank, int world)
{
    const int rank = one.members == Members::first ? world_rank : world - 1 - world_rank;
    return rank < one.ranks ? rank : -1;
}

std::string describe(Collective kind, const Case& one, int world)
{
    std::string text =
        fmt::format("p = {}, n = {}, {}", one.ranks, one.length, shardlings::name_of(one.dtype));
    if (kind == Collective::broadcast) text += fmt::format(", root {}", one.root);
    const bool sums = kind == Collective::all_reduce || kind == Collective::reduce_scatter;
    if (one.values == Values::rounded) text += sums ? ", rounded sums" : ", random values";
    if (one.calls > 1) text += ", called twice on the same buffer";
    if (one.members == Members::first) return text;
    std::vector<int> members;
    for (int rank = 0; rank < one.ranks; ++rank) members.push_back(world_rank_of(one, rank, world));
    return fmt::format("{}, group of world ranks {}", text, fmt::join(members, " "));
}

Run chunk(const Case& one, int rank)
{
    const std::int64_t each = one.length / one.ranks;
    const std::int64_t longer = one.length % one.ranks;
    return {rank * each + std::min<std::int64_t>(rank, longer), each + (rank < longer ? 1 : 0)};
}

std::vector<Case> cases_for(Collective kind, int ranks)
{
    constexpr DType dtypes[] = {DType::fp64, DType::fp32, DType::bf16, DType::fp16};
    const std::int64_t p = ranks;
    std::vector<Case> cases;
    for (const DType dtype : dtypes) {
        for (const std::int64_t n : std::set<std::int64_t>{0, 1, p - 1, p, p + 1, 97, 1000, 4099})
            cases.push_back({ranks, n, dtype});
        for (const std::int64_t n : {97, 1000}) cases.push_back({ranks, n, dtype, Values::rounded});
    }
    // After a reduce-scatter the other chunks hold anything: there is no second call to expect something of.
    if (kind != Collective::reduce_scatter)
        for (const std::int64_t n : {p + 1, std::int64_t{97}})
            cases.push_back({ranks, n, DType::fp64, Values::exact, Members::first, 2});
    for (const std::int64_t n : {p + 1, std::int64_t{97}})
        cases.push_back({ranks, n, DType::fp32, Values::exact, Members::last_reversed});
    cases.push_back({ranks, 1000, DType::bf16, Values::rounded, Members::last_reversed});
    cases.push_back({ranks, 97, DType::fp64});  // on the first group again, after the second
    if (kind == Collective::broadcast)
        for (std::size_t i = 0; i < cases.size(); ++i) cases[i].root = static_cast<int>(i) % ranks;
    return cases;
}

}  // namespace shardlings::verify
