// What is tried: how many ranks, how many elements of which dtype, which values, on which group.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/tools/verify/collective.hpp"

namespace shardlings::verify {

/// "all-reduce", …
std::string_view name_of(Collective kind);

/// exact: sums that every dtype holds without rounding and whose digits say what they are made of.
enum class Values : std::uint8_t { exact, rounded };
/// The ranks 0, 1, … of the world, or its last ones in the opposite order, so that a rank's number in the
/// group is not that in the world.
enum class Members : std::uint8_t { first, last_reversed };

struct Case {
    int ranks = 1;  // p
    std::int64_t length = 0;
    DType dtype = DType::fp32;
    Values values = Values::exact;
    Members members = Members::first;
    int calls = 1;  // one after the other on the same buffer, not filled anew
    int root = 0;   // of a broadcast
};

/// "p = 3, n = 7, bf16, rounded sums". `world` is the number of ranks of the job.
std::string describe(Collective kind, const Case& one, int world);

/// World rank of rank `rank` of the case's group, and the other way round (-1: not a member).
int world_rank_of(const Case& one, int rank, int world);
int group_rank_of(const Case& one, int world_rank, int world);

/// Elements [offset, offset + count) of rank `rank`, as collective.hpp declares it.
struct Run {
    std::int64_t offset;
    std::int64_t count;
    bool contains(std::int64_t i) const { return i >= offset && i < offset + count; }
};
Run chunk(const Case& one, int rank);

/// The cases for p = `ranks`, those of a group after one another.
std::vector<Case> cases_for(Collective kind, int ranks);

/// Lengths of the two tables: multiples of 1, 2, …, 8, one short enough for α and one long enough for β to
/// decide.
inline constexpr std::int64_t short_length = 840;
inline constexpr std::int64_t long_length = 840'000;

}  // namespace shardlings::verify
