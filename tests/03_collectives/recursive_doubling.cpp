#include "tests/03_collectives/recursive_doubling.hpp"

#include <bit>

#include "lib/machine/tensor/arithmetic.hpp"
#include "tests/03_collectives/node_aware.hpp"
#include "tests/03_collectives/sums.hpp"

namespace collectives_test {

namespace {

constexpr const char* order =
    "ranks from q on are to be added to rank r - q first, then in round k rank r adds the sum of rank r xor "
    "2^k, "
    "each sum rounded to the dtype";

/// The sum on every rank: ranks from q on are folded in, then in every round the sums of two halves add up.
std::vector<std::byte> doubling_sum(const Run& run, RankValues sums)
{
    const std::size_t q = std::bit_floor(sums.size());
    const auto whole = [&](std::size_t rank) { return part_of(sums[rank], {0, run.n}, run.dtype); };
    for (std::size_t rank = q; rank < sums.size(); ++rank) add(whole(rank), whole(rank - q));
    for (std::size_t bit = 1; bit < q; bit *= 2)
        for (std::size_t rank = 0; rank < q; rank += 2 * bit) add(whole(rank + bit), whole(rank));
    return sums.front();
}

/// When the last rank is done.
Duration doubling_duration(const Run& run, const Group& group)
{
    const auto bytes = static_cast<double>(run.n) * static_cast<double>(size_of(run.dtype));
    const Placement placement = placement_of(run.topology, group);
    const bool power_of_two = std::has_single_bit(group.size());
    // A message of a round between nodes may stay inside one, when the nodes' ranks are not a power of two.
    const bool slower_rounds =
        placement.nodes > 1 && (placement.ranks_per_node == 1 ||
                                !std::has_single_bit(static_cast<unsigned>(placement.ranks_per_node)));
    return {expected_seconds(AllReduce::recursive_doubling, run.topology, placement, bytes),
            static_cast<int>(std::bit_width(group.size())) + 1,
            slower_rounds || (!run.starts.empty() && !power_of_two)};
}

}  // namespace

GroupPromise recursive_doubling_promise(const Run& run, const Group& group)
{
    const auto p = static_cast<int>(group.size());
    const auto q = static_cast<int>(std::bit_floor(group.size()));
    const std::vector<std::byte> sum = doubling_sum(run, run.values_before(group));
    GroupPromise promise{{}, {}, order};
    if (run.repeat == 1) promise.duration = doubling_duration(run, group);
    for (int rank = 0; rank < p; ++rank) {
        Promise own{sum, {0, run.n}, {}, p == 1 ? 0 : run.n};
        if (rank >= q) own.sent[rank - q] = {1, run.n};
        if (rank + q < p) own.sent[rank + q] = {1, run.n};
        for (int bit = 1; bit < q && rank < q; bit *= 2) own.sent[rank ^ bit] = {1, run.n};
        promise.ranks.push_back(std::move(own));
    }
    return promise;
}

}  // namespace collectives_test
