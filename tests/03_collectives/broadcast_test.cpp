#include <algorithm>
#include <bit>
#include <cmath>

#include "tests/03_collectives/run.hpp"

using namespace collectives_test;

namespace {

constexpr const char* if_stuck =
    "Every message needs a rank that sends it and one that receives it: does each rank know how far from the "
    "root, (rank - root) mod p, the other one is?";

/// The root's values on every rank, without further memory; the caller adds what is sent.
GroupPromise root_everywhere(const Run& run, const Group& group)
{
    const RankValues before = run.values_before(group);
    GroupPromise promise;
    for (std::size_t rank = 0; rank < group.size(); ++rank)
        promise.ranks.push_back({before[static_cast<std::size_t>(run.root)], {0, run.n}, {}, 0});
    return promise;
}

const Link& slowest_link(const Run& run)
{
    return run.topology.nodes > 1 ? run.topology.inter : run.topology.intra;
}

double bytes_of(const Run& run, std::int64_t elements)
{
    return static_cast<double>(elements) * static_cast<double>(size_of(run.dtype));
}

GroupPromise tree_promise(const Run& run, const Group& group)
{
    GroupPromise promise = root_everywhere(run, group);
    const auto p = static_cast<int>(group.size());
    int rounds = 0;
    for (int have = 1; have < p; have *= 2, ++rounds)
        for (int distance = 0; distance < have && distance + have < p; ++distance)
            promise.ranks[static_cast<std::size_t>((run.root + distance) % p)]
                .sent[(run.root + distance + have) % p] = {1, run.n};
    const bool exact = std::has_single_bit(group.size()) && run.topology.nodes == 1;
    if (run.repeat == 1)
        promise.duration = {rounds * slowest_link(run).seconds(bytes_of(run, run.n)), rounds, !exact};
    return promise;
}

GroupPromise chain_promise(const Run& run, const Group& group)
{
    GroupPromise promise = root_everywhere(run, group);
    const auto p = static_cast<int>(group.size());
    if (p == 1) return promise;
    for (int distance = 0; distance < p - 1; ++distance)
        promise.ranks[static_cast<std::size_t>((run.root + distance) % p)]
            .sent[(run.root + distance + 1) % p] = {static_cast<std::uint64_t>(run.segments), run.n,
                                                    run.n < run.segments};
    const int steps = p - 2 + run.segments;
    const bool exact = run.n % run.segments == 0 && run.topology.nodes == 1;
    const double longest = bytes_of(run, chunk_of(run.n, run.segments, 0).count);
    if (run.repeat == 1) promise.duration = {steps * slowest_link(run).seconds(longest), steps, !exact};
    return promise;
}

/// From the root, which starts late; over links of random cost.
Run timed_run(const std::string& function, int p, int root, std::int64_t n)
{
    Run run{function, {ranks_from(0, p - 1)}, n, DType::fp32, true};
    run.root = root;
    run.topology.devices_per_node = world_size;
    run.topology.intra = random_link(fmt::format("{} of {}", function, p));
    run.starts.assign(world_size, 0.0);
    run.starts[static_cast<std::size_t>(root)] = 1e-3;
    return run;
}

/// All dtypes inside a larger buffer; groups in another order and at once; a large buffer.
std::vector<Run> difficult_runs(const std::string& function)
{
    std::vector<Run> runs;
    for (const DType dtype : all_dtypes)
        runs.push_back({function, {ranks_from(0, 6)}, 803, dtype, true, 3, 2});
    runs.push_back({function, {{7, 6, 5, 4, 3, 2, 1, 0}}, 50});
    runs.push_back({function, {{6, 2, 5}, {7, 0, 1, 4, 3}}, 31, DType::fp64, false, 5});
    runs.push_back({function, {{1, 3, 5, 7}, {6, 4, 2, 0}}, 122, DType::fp16, true, 2, 2});
    runs.push_back({function, {ranks_from(0, 7)}, 1'000'003, DType::fp32, true, 1});
    for (std::size_t i = 0; i < runs.size(); ++i) {
        runs[i].root = static_cast<int>(i % 3);
        runs[i].segments = static_cast<int>(2 + 5 * i);
    }
    return runs;
}

/// A broadcast among 8 ranks that every rank must refuse.
NamedCase refused_case(const std::string& function, int root, int segments)
{
    NamedCase one;
    one.name = fmt::format("{} from {} in {} segments, p = 8", function, root, segments);
    one.input.operation = "refused";
    one.input.ranks.assign(world_size, {{"function", function}, {"root", root}, {"segments", segments}});
    one.check = [=](const CaseResult& result) {
        std::vector<std::string> messages;
        for (int rank = 0; rank < world_size; ++rank)
            if (!result.ranks[static_cast<std::size_t>(rank)].outputs.contains("refusal"))
                messages.push_back(on_rank(rank, "expected an Error that says what is wrong, got none"));
        return messages;
    };
    return one;
}

double chain_seconds(const Link& link, int ranks, double bytes, std::int64_t segments)
{
    const auto s = static_cast<double>(segments);
    return (ranks - 2 + s) * link.seconds(bytes / s);
}

/// best_segments against all numbers of segments that can be meant. Where the times are `exact`, the smaller
/// one of equals.
NamedCase segments_case(const Link& link, int ranks, double bytes, bool exact = false)
{
    NamedCase one;
    one.name = fmt::format("best_segments(alpha = {:.4g} s, {:.4g} bytes/s, p = {}, {:.9g} bytes)",
                           link.latency, link.bandwidth, ranks, bytes);
    one.input = one_rank(
        "best_segments",
        {{"latency", link.latency}, {"bandwidth", link.bandwidth}, {"ranks", ranks}, {"bytes", bytes}});
    one.check = [=](const RankResult& rank) -> std::vector<std::string> {
        const auto got = static_cast<std::int64_t>(rank.outputs.at("segments").get<double>());
        if (got < 1) return {fmt::format("is {}, expected at least 1", got)};
        std::int64_t best = 1;
        for (std::int64_t s = 2; s <= 20000; ++s)
            if (chain_seconds(link, ranks, bytes, s) < chain_seconds(link, ranks, bytes, best)) best = s;
        const double seconds = chain_seconds(link, ranks, bytes, got);
        const double least = chain_seconds(link, ranks, bytes, best);
        // Two numbers whose times differ by less than the six roundings in each are as good.
        const double rounding = 6.0 * std::numeric_limits<double>::epsilon() * least;
        if (seconds <= least + rounding && (got == best || !exact)) return {};
        return {fmt::format("is {}, which takes {:.9g} s, expected {}, which takes {:.9g} s", got, seconds,
                            best, least)};
    };
    return one;
}

}  // namespace

TEST_CASE("03.4 tree_broadcast: from every root to any number of ranks", "[03.4]")
{
    std::vector<NamedCase> cases;
    const std::vector<std::int64_t> lengths{5, 64, 1, 1000, 0};
    for (const int p : {2, 4, 3, 8, 1, 5, 6, 7})
        for (int root = 0; root < p; ++root) {
            Run run{"tree_broadcast", {ranks_from(0, p - 1)}, lengths[cases.size() % lengths.size()]};
            run.root = root;
            cases.push_back(case_of(run, tree_promise, if_stuck));
        }
    run_and_check("broadcast", cases);
}

TEST_CASE("03.4 tree_broadcast: all dtypes, in groups, and ceil(log2 p)(alpha + beta n)", "[03.4]")
{
    std::vector<NamedCase> cases;
    for (const Run& run : difficult_runs("tree_broadcast"))
        cases.push_back(case_of(run, tree_promise, if_stuck));
    for (const int p : {2, 4, 8, 3, 7}) {
        Run run = timed_run("tree_broadcast", p, p / 2, 1000 * p);
        cases.push_back(case_of(run, tree_promise, if_stuck));
        run.starts.clear();
        run.topology = {2, 4};
        cases.push_back(case_of(run, tree_promise, if_stuck));
    }
    for (const int root : {-1, 8, 100}) cases.push_back(refused_case("tree_broadcast", root, 1));
    run_and_check("broadcast", cases);
}

TEST_CASE("03.4 chain_broadcast: from every root to any number of ranks, in any number of segments", "[03.4]")
{
    std::vector<NamedCase> cases;
    const std::vector<std::int64_t> lengths{12, 65, 1, 1000, 0};
    const std::vector<int> segments{3, 1, 7, 4, 2, 12, 100};
    for (const int p : {2, 4, 3, 8, 1, 5, 6, 7})
        for (int root = 0; root < p; ++root) {
            Run run{"chain_broadcast", {ranks_from(0, p - 1)}, lengths[cases.size() % lengths.size()]};
            run.root = root;
            run.segments = segments[cases.size() % segments.size()];
            cases.push_back(case_of(run, chain_promise, if_stuck));
        }
    run_and_check("broadcast", cases);
}

TEST_CASE("03.4 chain_broadcast: all dtypes, in groups, and (p - 2 + s)(alpha + beta n / s)", "[03.4]")
{
    std::vector<NamedCase> cases;
    for (const Run& run : difficult_runs("chain_broadcast"))
        cases.push_back(case_of(run, chain_promise, if_stuck));
    for (const int p : {2, 3, 5, 8})
        for (const int segments : {1, 4, 25}) {
            Run run = timed_run("chain_broadcast", p, p - 1, 5000);
            run.segments = segments;
            cases.push_back(case_of(run, chain_promise, if_stuck));
        }
    for (const int root : {-1, 8}) cases.push_back(refused_case("chain_broadcast", root, 2));
    for (const int segments : {0, -3}) cases.push_back(refused_case("chain_broadcast", 0, segments));
    run_and_check("broadcast", cases);
}

TEST_CASE("03.4 best_segments: no other number of segments is faster", "[03.4]")
{
    std::vector<NamedCase> cases;
    // p = 4 and beta n = alpha: 1 and 2 segments take exactly 6 s.
    cases.push_back(segments_case({1.0, 1.0}, 4, 1.0, true));
    for (const int ranks : {1, 2, 3, 4, 8, 32, 1000})
        for (const double bytes : {0.0, 64.0, 4096.0, 1e6, 268435456.0})
            cases.push_back(segments_case(random_link(fmt::format("segments {}", ranks)), ranks, bytes));
    run_and_check("broadcast", cases);
}
