#include "tests/03_collectives/node_aware.hpp"
#include "tests/03_collectives/recursive_doubling.hpp"
#include "tests/03_collectives/ring_runs.hpp"

using namespace collectives_test;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
const std::vector<std::string> names{"recursive doubling", "the ring", "the node-aware one"};
const std::vector<AllReduce> algorithms{AllReduce::recursive_doubling, AllReduce::ring,
                                        AllReduce::node_aware};

std::string name_of(AllReduce algorithm)
{
    return names.at(static_cast<std::size_t>(algorithm));
}

/// A product and a quotient in a message's time, and a sum of at most 14 such: half an epsilon each, here and
/// there.
constexpr double rounding = 16.0 * epsilon;

CaseInput cost_input(const std::string& operation, const Topology& topology, Placement placement,
                     double bytes)
{
    CaseInput input = one_rank(
        operation,
        {{"ranks_per_node", placement.ranks_per_node}, {"nodes", placement.nodes}, {"bytes", bytes}});
    input.topology = topology;
    return input;
}

std::string name_of_case(const std::string& function, Placement placement, double bytes)
{
    return fmt::format("{}, {} ranks on each of {} nodes, {:.9g} bytes", function, placement.ranks_per_node,
                       placement.nodes, bytes);
}

/// What a wrong time is, where it can be told.
std::string seconds_cause(AllReduce algorithm, const Topology& topology, Placement placement, double bytes,
                          double got)
{
    const int p = placement.ranks_per_node * placement.nodes;
    const auto is = [got](double seconds) { return std::abs(got - seconds) <= 1e-9 * seconds; };
    const Link& outer = placement.nodes > 1 ? topology.inter : topology.intra;
    if (algorithm == AllReduce::ring && is(2.0 * (p - 1) * outer.seconds(bytes)))
        return "; a message of the ring holds one chunk, n / p, not all n elements";
    if (is(expected_seconds(algorithm, topology, placement, bytes) / 2.0)) return "; that is half of it";
    if (placement.nodes > 1) {
        Topology fast = topology;
        fast.inter = topology.intra;
        if (is(expected_seconds(algorithm, fast, placement, bytes)))
            return "; some messages go between nodes, where the link is slower";
        fast = topology;
        fast.intra = topology.inter;
        if (is(expected_seconds(algorithm, fast, placement, bytes)))
            return "; some messages stay inside the node, where the link is faster";
    }
    return "";
}

NamedCase seconds_case(AllReduce algorithm, const Topology& topology, Placement placement, double bytes)
{
    NamedCase one;
    one.name = name_of_case("all_reduce_seconds of " + name_of(algorithm), placement, bytes);
    one.input = cost_input("all_reduce_seconds", topology, placement, bytes);
    one.input.ranks[0]["algorithm"] = static_cast<int>(algorithm);
    one.check = [=](const RankResult& rank) {
        const auto got = rank.outputs.at("seconds").get<double>();
        const double expected = expected_seconds(algorithm, topology, placement, bytes);
        std::string message = compare_number("it", got, expected, {rounding, 0.0});
        if (!message.empty()) message += seconds_cause(algorithm, topology, placement, bytes, got);
        return std::vector{message};
    };
    return one;
}

/// The first that no other beats by more than the rounding.
AllReduce expected_choice(const Topology& topology, Placement placement, double bytes)
{
    AllReduce best = AllReduce::recursive_doubling;
    const auto seconds = [&](AllReduce algorithm) {
        return expected_seconds(algorithm, topology, placement, bytes);
    };
    for (const AllReduce other : algorithms)
        if (seconds(other) < seconds(best) * (1.0 - rounding)) best = other;
    return best;
}

NamedCase choice_case(const Topology& topology, Placement placement, double bytes)
{
    NamedCase one;
    one.name = name_of_case("choose_all_reduce", placement, bytes);
    one.input = cost_input("choose_all_reduce", topology, placement, bytes);
    one.check = [=](const RankResult& rank) -> std::vector<std::string> {
        const auto got = static_cast<AllReduce>(static_cast<int>(rank.outputs.at("algorithm").get<double>()));
        const AllReduce expected = expected_choice(topology, placement, bytes);
        if (got == expected) return {};
        return {fmt::format("{}, which takes {:.6g} s, expected {}, which takes {:.6g} s{}", name_of(got),
                            expected_seconds(got, topology, placement, bytes), name_of(expected),
                            expected_seconds(expected, topology, placement, bytes),
                            expected < got ? " (of equals the first)" : "")};
    };
    return one;
}

const std::vector<Placement> placements{{1, 1}, {2, 1}, {8, 1}, {6, 1}, {1, 2}, {1, 6},  {2, 2},
                                        {4, 2}, {2, 4}, {3, 2}, {2, 3}, {8, 4}, {16, 64}};

/// Random links, the ones inside nodes faster.
Topology random_topology(Placement placement)
{
    Topology topology{placement.nodes, placement.ranks_per_node};
    topology.intra = random_link(fmt::format("inside {}", placement.nodes));
    topology.inter = random_link(fmt::format("between {}", placement.ranks_per_node));
    topology.inter.latency += topology.intra.latency;
    topology.inter.bandwidth = topology.intra.bandwidth / 7.0;
    return topology;
}

/// all_reduce with the promise of the algorithm that must be taken.
GroupPromise chosen_promise(const Run& run, const Group& group)
{
    const auto bytes = static_cast<double>(run.n) * static_cast<double>(size_of(run.dtype));
    const AllReduce algorithm = expected_choice(run.topology, placement_of(run.topology, group), bytes);
    GroupPromise promise = algorithm == AllReduce::recursive_doubling ? recursive_doubling_promise(run, group)
                           : algorithm == AllReduce::ring             ? all_reduce_promise(run, group)
                                                                      : node_aware_promise(run, group);
    promise.algorithm = name_of(algorithm);
    return promise;
}

NamedCase all_reduce_case(Topology topology, const Group& group, std::int64_t n, DType dtype)
{
    Run run{"all_reduce", {group}, n, dtype, true, 1};
    run.topology = topology;
    return case_of(run, chosen_promise, "Do all ranks choose the same algorithm?");
}

}  // namespace

TEST_CASE("03.6 all_reduce_seconds: what each algorithm takes", "[03.6]")
{
    std::vector<NamedCase> cases;
    for (const AllReduce algorithm : algorithms)
        for (const Placement placement : placements)
            for (const double bytes : {0.0, 8.0, 1e6, 3e11})
                cases.push_back(seconds_case(algorithm, random_topology(placement), placement, bytes));
    run_and_check("node_aware", cases);
}

TEST_CASE("03.6 choose_all_reduce: the fastest for the size, of equals the first", "[03.6]")
{
    std::vector<NamedCase> cases;
    for (const Placement placement : placements)
        for (const double bytes : {0.0, 8.0, 1024.0, 16384.0, 262144.0, 4194304.0, 67108864.0}) {
            cases.push_back(choice_case({placement.nodes, placement.ranks_per_node}, placement, bytes));
            cases.push_back(choice_case(random_topology(placement), placement, bytes));
        }
    run_and_check("node_aware", cases);
}

TEST_CASE("03.6 all_reduce: by the fastest algorithm, which takes what was predicted", "[03.6]")
{
    std::vector<NamedCase> cases;
    for (const std::int64_t n : {8, 4000, 400000}) {
        cases.push_back(all_reduce_case({1, 8}, ranks_from(0, 7), n, DType::fp32));
        cases.push_back(all_reduce_case({2, 4}, ranks_from(0, 7), n, DType::fp64));
        cases.push_back(all_reduce_case({4, 2}, ranks_from(0, 7), n, DType::bf16));
        cases.push_back(all_reduce_case({2, 4}, ranks_from(0, 4), n, DType::fp32));
        cases.push_back(all_reduce_case({2, 4}, {1, 3, 4, 6}, n, DType::fp64));
        cases.push_back(all_reduce_case({2, 4}, ranks_from(0, 3), n, DType::fp32));
    }
    cases.push_back(all_reduce_case({4, 2}, ranks_from(0, 5), 6, DType::fp64));
    cases.push_back(all_reduce_case({2, 4}, ranks_from(0, 7), 0, DType::fp64));
    cases.push_back(all_reduce_case({2, 4}, {3}, 5, DType::fp16));
    run_and_check("node_aware", cases);
}
