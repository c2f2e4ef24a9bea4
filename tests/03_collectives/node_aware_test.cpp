#include "tests/03_collectives/node_aware.hpp"

#include "tests/03_collectives/ring_runs.hpp"

using namespace collectives_test;

namespace {

constexpr const char* function = "node_aware_all_reduce";
constexpr const char* if_stuck =
    "Both groups of a rank must be groups for all their ranks: do all agree on who is in them, and does "
    "every "
    "rank call all three steps?";

std::string text_of(const std::vector<double>& ranks)
{
    std::string text;
    for (const double rank : ranks)
        text += (text.empty() ? "" : ", ") + std::to_string(static_cast<int>(rank));
    return "{" + text + "}";
}

std::string compare_group(const std::string& name, const json& got, const Group& expected)
{
    const auto ranks = got.get<std::vector<double>>();
    const std::vector<double> wanted(expected.begin(), expected.end());
    if (ranks == wanted) return "";
    return fmt::format("{} holds the world's ranks {}, expected {}", name, text_of(ranks), text_of(wanted));
}

/// The groups of the world's ranks `group`.
NamedCase groups_case(int nodes, int devices_per_node, const Group& group)
{
    NamedCase one;
    one.name = fmt::format("make_node_groups of the world's ranks {} on {} x {}",
                           text_of({group.begin(), group.end()}), nodes, devices_per_node);
    one.if_stuck = "Every rank of comm must call split equally often.";
    one.input.operation = "make_node_groups";
    one.input.topology = {nodes, devices_per_node};
    for (int rank = 0; rank < world_size; ++rank) {
        const auto found = std::find(group.begin(), group.end(), rank);
        const bool takes_part = found != group.end();
        one.input.ranks.push_back({{"color", takes_part ? 0 : 1},
                                   {"key", takes_part ? found - group.begin() : rank},
                                   {"takes_part", takes_part}});
    }
    one.check = [=, topology = one.input.topology](const CaseResult& result) {
        std::vector<std::string> messages;
        for (const Group& node : nodes_of(topology, group))
            for (std::size_t place = 0; place < node.size(); ++place) {
                Group across;
                for (const Group& other : nodes_of(topology, group)) across.push_back(other[place]);
                const RankResult& own = result.ranks[static_cast<std::size_t>(node[place])];
                messages.push_back(on_rank(node[place], compare_group("node", own.outputs.at("node"), node)));
                messages.push_back(
                    on_rank(node[place], compare_group("across", own.outputs.at("across"), across)));
                if (own.measured.at("messages") != 0)
                    messages.push_back(
                        on_rank(node[place], "sent messages: the topology is known everywhere"));
            }
        return messages;
    };
    return one;
}

Run run_on(int nodes, int devices_per_node, const Group& group, std::int64_t n)
{
    Run run{function, {group}, n};
    run.topology = {nodes, devices_per_node};
    return run;
}

NamedCase case_on(Run run)
{
    return case_of(run, node_aware_promise, if_stuck);
}

}  // namespace

TEST_CASE("03.6 make_node_groups: the ranks of a node, and those at the same place of all nodes", "[03.6]")
{
    run_and_check("node_aware", {groups_case(2, 4, ranks_from(0, 7)), groups_case(4, 2, ranks_from(0, 7)),
                                 groups_case(1, 8, ranks_from(0, 7)), groups_case(8, 1, ranks_from(0, 7)),
                                 groups_case(2, 4, {1, 3, 4, 6}), groups_case(2, 4, {7, 6, 5, 4, 3, 2, 1, 0}),
                                 groups_case(4, 2, {0, 4, 1, 5}), groups_case(2, 4, {0, 1, 2, 3, 4}),
                                 groups_case(4, 2, {0, 1, 2}), groups_case(4, 2, {6, 7, 1, 3}),
                                 groups_case(2, 4, {5}), groups_case(2, 4, {2, 3})});
}

TEST_CASE("03.6 node_aware_all_reduce: the sum on every rank, on all kinds of nodes", "[03.6]")
{
    std::vector<NamedCase> cases;
    for (const std::int64_t n : {8, 1000, 61, 3, 1, 0}) {
        cases.push_back(case_on(run_on(4, 2, ranks_from(0, 3), n)));
        for (const auto& [nodes, devices] : {std::pair{2, 4}, {4, 2}, {1, 8}, {8, 1}})
            cases.push_back(case_on(run_on(nodes, devices, ranks_from(0, 7), n)));
    }
    for (const Group& group : std::vector<Group>{{1, 3, 4, 6},
                                                 {0, 1, 2, 3, 4},
                                                 {0, 1, 2},
                                                 {5},
                                                 {2, 3},
                                                 {0, 7},
                                                 {7, 6, 5, 4, 3, 2, 1, 0},
                                                 {4, 1, 0, 5}})
        for (const std::int64_t n : {31, 120}) cases.push_back(case_on(run_on(2, 4, group, n)));
    run_and_check("node_aware", cases);
}

TEST_CASE("03.6 node_aware_all_reduce: all dtypes bit by bit, in place, and the virtual time", "[03.6]")
{
    std::vector<NamedCase> cases;
    for (const DType dtype : all_dtypes)
        for (const auto& [nodes, devices] : {std::pair{2, 4}, {4, 2}}) {
            Run run{function, {ranks_from(0, 7)}, 803, dtype, true, 3, 2};
            run.topology = {nodes, devices};
            cases.push_back(case_on(run));
            run.n = 4000;
            run.repeat = 1;
            run.topology.intra = random_link("node intra");
            run.topology.inter = random_link("node inter");
            for (int rank = 0; rank < world_size; ++rank) run.starts.push_back(1e-5 * ((3 * rank) % 8));
            cases.push_back(case_on(run));
        }
    Run large{function, {ranks_from(0, 7)}, 1'000'003, DType::fp32, true, 1};
    large.topology = {2, 4};
    cases.push_back(case_on(large));
    Run two{function, {{0, 1, 4, 5}, {7, 6, 3, 2}}, 120, DType::fp32, true, 1, 2};
    two.topology = {2, 4};
    cases.push_back(case_on(two));
    run_and_check("node_aware", cases);
}

TEST_CASE("03.6 node_aware_all_reduce: on 4 x 8 fewer bytes between nodes than a ring, and faster", "[03.6]")
{
    constexpr std::int64_t n = 64000;
    Run run = run_on(4, 8, ranks_from(0, 31), n);
    run.ranks = 32;
    Run ring = run;
    ring.function = "ring_all_reduce";
    const auto ring_promise = [](const Run& flat, const Group& group) {
        GroupPromise promise = all_reduce_promise(flat, group);
        promise.between_nodes = 2 * 31 * (n / 32) * 4;  // 2 (p - 1) messages on each of the four links
        return promise;
    };
    run_and_check("node_aware", {case_on(run), case_of(ring, ring_promise, if_stuck)}, 10.0);
    const double bytes = static_cast<double>(n) * 8.0;
    CHECK(expected_seconds(AllReduce::node_aware, run.topology, {8, 4}, bytes) <
          expected_seconds(AllReduce::ring, run.topology, {8, 4}, bytes));
}
