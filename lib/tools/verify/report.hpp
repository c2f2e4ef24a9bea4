// What the user reads: what the wrong cases have in common, and the tables of cost.
#pragma once

#include <string>
#include <vector>

#include "lib/machine/device/topology.hpp"
#include "lib/tools/verify/run_case.hpp"

namespace shardlings::verify {

/// A case and what is wrong with it; empty: nothing.
struct Verdict {
    Case one;
    std::string wrong;
};

/// "p is not a power of two", "n < p", "the dtype is bf16", …: the narrowest of such conditions that every
/// wrong case fulfils, when there are right cases that do not; else empty.
std::string common_condition(const std::vector<Verdict>& verdicts);

/// The verdict over all cases, with the first wrong ones.
std::string verdict_text(Collective kind, const std::vector<Verdict>& verdicts, int world);

/// What a measured case cost: sums over the ranks, and the slowest and largest of them.
struct Cost {
    int ranks = 1;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    double seconds = 0.0;
    std::uint64_t memory = 0;
};
Cost cost_of(const Case& one, const std::vector<RankResult>& results);

/// One row for each number of ranks, all with `length` elements of `dtype` and one kind of link.
std::string cost_table(Collective kind, std::int64_t length, DType dtype, const Link& link,
                       const std::vector<Cost>& costs);
/// What the columns mean, once under the tables.
std::string cost_legend(Collective kind);

}  // namespace shardlings::verify
