#include <cmath>

#include "tests/lib/run_and_check.hpp"

using namespace grade;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr const char* if_stuck =
    "When every rank sends before it receives, nobody receives and all wait: sendrecv() does both at once.";

/// Rank r's value is base^r, so that the digits of a sum say whose values it holds.
double base_of(int ranks)
{
    return ranks <= 4 ? 4096.0 : 64.0;
}

/// What a sum of such values holds too often or not: "; it holds rank 1's value 2 times". `members` are the
/// world's ranks.
std::string digits_text(double sum, double base, const std::vector<int>& members)
{
    std::string text;
    double left = sum;
    for (const int member : members) {
        const double times = std::fmod(left, base);
        left = std::floor(left / base);
        if (times == 1.0) continue;
        text +=
            fmt::format("{} rank {}'s value {} times", text.empty() ? "; it holds" : " and", member, times);
    }
    return left == 0.0 ? text : "";
}

std::string check_exact_sum(const RankResult& rank, int own, const std::vector<int>& members, double base)
{
    const auto sum = rank.outputs.at("sum").get<double>();
    double expected = 0.0;
    for (std::size_t i = 0; i < members.size(); ++i) expected += std::pow(base, static_cast<double>(i));
    if (sum == expected) return "";
    return on_rank(
        own, fmt::format("the sum is {}, expected {}{}", sum, expected, digits_text(sum, base, members)));
}

std::vector<int> all_ranks(int ranks)
{
    std::vector<int> members(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) members[static_cast<std::size_t>(rank)] = rank;
    return members;
}

/// Messages and virtual time of one rank of a ring in which every link costs `step` seconds.
std::vector<std::string> check_cost(const RankResult& rank, int own, int ranks, double step, double start)
{
    const auto steps = static_cast<std::uint64_t>(ranks - 1);
    const double expected = static_cast<double>(steps) * step;
    // The clock is rounded once a step, by at most half an epsilon of its largest reading; so is the
    // difference.
    const double rounding = ranks * epsilon * (start + expected);
    return {on_rank(own, compare_traffic(rank, (own + 1) % ranks, steps, 8 * steps)),
            on_rank(own, compare_number("its virtual time", rank.measured.at("virtual_seconds").get<double>(),
                                        expected, {0.0, rounding}))};
}

NamedCase exact_case(int ranks, double start)
{
    NamedCase one;
    one.name = fmt::format("p = {}", ranks);
    one.if_stuck = if_stuck;
    one.input.operation = "sum_around_the_ring";
    Topology& topology = one.input.topology;
    topology.devices_per_node = ranks;
    topology.intra = random_link("ring of " + std::to_string(ranks));
    const double step = topology.intra.seconds(sizeof(double));
    const double base = base_of(ranks);
    for (int rank = 0; rank < ranks; ++rank)
        one.input.ranks.push_back({{"value", std::pow(base, rank)}, {"start", start}});
    one.check = [=](const CaseResult& result) {
        std::vector<std::string> messages;
        for (int rank = 0; rank < ranks; ++rank) {
            const RankResult& own = result.ranks[static_cast<std::size_t>(rank)];
            messages.push_back(check_exact_sum(own, rank, all_ranks(ranks), base));
            for (std::string& message : check_cost(own, rank, ranks, step, start))
                messages.push_back(std::move(message));
        }
        return messages;
    };
    return one;
}

NamedCase random_case(int ranks)
{
    NamedCase one;
    one.name = fmt::format("p = {}, random values", ranks);
    one.if_stuck = if_stuck;
    one.input.operation = "sum_around_the_ring";
    const std::vector<double> values = random_values("ring " + std::to_string(ranks), ranks, DType::fp64);
    double sum = 0.0;
    double magnitude = 0.0;
    for (const double value : values) {
        one.input.ranks.push_back({{"value", value}, {"start", 0.0}});
        sum += value;
        magnitude += std::abs(value);
    }
    // p − 1 additions in any order are off by at most (p − 1) epsilon/2 Σ|v|; so is the expected sum.
    const double rounding = (ranks - 1) * epsilon * magnitude;
    one.check = [=](const CaseResult& result) {
        std::vector<std::string> messages;
        for (int rank = 0; rank < ranks; ++rank)
            messages.push_back(on_rank(
                rank,
                compare_number("the sum",
                               result.ranks[static_cast<std::size_t>(rank)].outputs.at("sum").get<double>(),
                               sum, {0.0, rounding})));
        return messages;
    };
    return one;
}

/// The ring over nodes: p − 1 steps, each as slow as the slowest link.
NamedCase nodes_case(int nodes, int devices_per_node)
{
    const int ranks = nodes * devices_per_node;
    NamedCase one;
    one.name = fmt::format("p = {} on {} nodes", ranks, nodes);
    one.if_stuck = if_stuck;
    one.input.operation = "sum_around_the_ring";
    one.input.topology.nodes = nodes;
    one.input.topology.devices_per_node = devices_per_node;
    for (int rank = 0; rank < ranks; ++rank)
        one.input.ranks.push_back({{"value", std::pow(base_of(ranks), rank)}, {"start", 0.0}});
    const double expected = (ranks - 1) * one.input.topology.inter.seconds(sizeof(double));
    one.check = [=](const CaseResult& result) -> std::vector<std::string> {
        double slowest = 0.0;
        for (const RankResult& rank : result.ranks)
            slowest = std::max(slowest, rank.measured.at("virtual_seconds").get<double>());
        return {compare_number("the slowest rank's virtual time", slowest, expected,
                               {ranks * epsilon, 0.0})};  // one rounding a step
    };
    return one;
}

/// Rings inside groups: ranks of equal rank mod `groups`, the last of the world first.
NamedCase groups_case(int ranks, int groups)
{
    NamedCase one;
    one.name = fmt::format("{} ranks in {} groups", ranks, groups);
    one.if_stuck = "The ring is of the ranks of `comm`, which need not be all ranks of the job.";
    one.input.operation = "sum_around_rings";
    constexpr double base = 4096.0;
    std::vector<std::vector<int>> members(static_cast<std::size_t>(groups));
    for (int rank = 0; rank < ranks; ++rank) {
        auto& group = members[static_cast<std::size_t>(rank % groups)];
        one.input.ranks.push_back(
            {{"value", std::pow(base, static_cast<double>(group.size()))}, {"groups", groups}});
        group.push_back(rank);
    }
    one.check = [=](const CaseResult& result) {
        std::vector<std::string> messages;
        for (int rank = 0; rank < ranks; ++rank) {
            const RankResult& own = result.ranks[static_cast<std::size_t>(rank)];
            const std::vector<int>& group = members[static_cast<std::size_t>(rank % groups)];
            const std::uint64_t steps = group.size() - 1;
            const int right = rank >= groups ? rank - groups : group.back();
            messages.push_back(check_exact_sum(own, rank, group, base));
            messages.push_back(on_rank(rank, compare_traffic(own, right, steps, sizeof(double) * steps)));
        }
        return messages;
    };
    return one;
}

}  // namespace

TEST_CASE("00.4 sum_around_the_ring: the sum on every rank in p - 1 steps", "[00.4]")
{
    run_and_check("ring", {exact_case(1, 0.0), exact_case(2, 0.0), exact_case(3, 1e-3), exact_case(4, 0.0),
                           exact_case(8, 0.0), random_case(3), random_case(8), nodes_case(2, 2)});
}

TEST_CASE("00.4 sum_around_the_ring: rings inside groups of the ranks", "[00.4]")
{
    run_and_check("ring", {groups_case(8, 3)});
}
