#include "tests/03_collectives/ring_runs.hpp"

#include <algorithm>

#include "tests/03_collectives/sums.hpp"

namespace collectives_test {

namespace {

constexpr const char* if_stuck =
    "Does every rank send before it receives? Then nobody receives and all wait: sendrecv() does both at "
    "once.";
constexpr const char* order =
    "chunk c is to be added in the order of ranks c + 1, c + 2, …, c (mod p), each sum rounded to the dtype";

std::int64_t count_of(const Run& run, int p, int index)
{
    return chunk_of(run.n, p, (index + p) % p).count;
}

/// `rounds` times p − 1 messages of one chunk each.
Duration ring_duration(const Run& run, const Group& group, int rounds)
{
    const auto p = static_cast<int>(group.size());
    Topology topology = run.topology;
    topology.devices_per_node = std::max(topology.devices_per_node, topology.nodes > 1 ? 1 : run.ranks);
    Link slowest = topology.intra;
    for (const int rank : group)
        if (topology.node_of(rank) != topology.node_of(group.front())) slowest = topology.inter;
    const auto bytes = static_cast<double>(count_of(run, p, 0)) * static_cast<double>(size_of(run.dtype));
    const int steps = rounds * (p - 1);
    // When p divides n, all chunks are as long as the first; else none is longer.
    return {steps * slowest.seconds(bytes), steps, run.n % p != 0};
}

/// p − 1 messages of every chunk but one.
void promise_traffic(const Run& run, int p, int left_out, Sent& sent)
{
    sent.messages += static_cast<std::uint64_t>(p - 1);
    sent.elements += run.n - count_of(run, p, left_out);
    sent.fewer_messages = run.n < p;
}

}  // namespace

GroupPromise reduce_scatter_promise(const Run& run, const Group& group)
{
    const auto p = static_cast<int>(group.size());
    const std::vector<std::byte> sum = ring_sum(run.values_before(group), run.n, run.dtype);
    GroupPromise promise{{}, ring_duration(run, group, run.repeat), order};
    for (int rank = 0; rank < p; ++rank) {
        Promise own{sum, chunk_of(run.n, p, rank), {}, p == 1 ? 0 : count_of(run, p, 0)};
        if (p > 1) promise_traffic(run, p, rank, own.sent[(rank + 1) % p]);
        promise.ranks.push_back(std::move(own));
    }
    return promise;
}

GroupPromise all_gather_promise(const Run& run, const Group& group)
{
    const auto p = static_cast<int>(group.size());
    RankValues before = run.values_before(group);
    std::vector<std::byte> gathered = before.front();
    for (int rank = 0; rank < p; ++rank) {
        const Chunk chunk = chunk_of(run.n, p, rank);
        const Buffer from = part_of(before[static_cast<std::size_t>(rank)], chunk, run.dtype);
        std::copy_n(from.data, from.bytes(), part_of(gathered, chunk, run.dtype).data);
    }
    GroupPromise promise{{}, ring_duration(run, group, run.repeat)};
    for (int rank = 0; rank < p; ++rank) {
        Promise own{gathered, {0, run.n}, {}, 0};
        if (p > 1) promise_traffic(run, p, rank + 1, own.sent[(rank + 1) % p]);
        promise.ranks.push_back(std::move(own));
    }
    return promise;
}

GroupPromise all_reduce_promise(const Run& run, const Group& group)
{
    const auto p = static_cast<int>(group.size());
    const std::vector<std::byte> sum = ring_sum(run.values_before(group), run.n, run.dtype);
    GroupPromise promise{{}, ring_duration(run, group, 2 * run.repeat), order};
    for (int rank = 0; rank < p; ++rank) {
        Promise own{sum, {0, run.n}, {}, p == 1 ? 0 : count_of(run, p, 0)};
        for (const int left_out : {rank, rank + 1})
            if (p > 1) promise_traffic(run, p, left_out, own.sent[(rank + 1) % p]);
        promise.ranks.push_back(std::move(own));
    }
    return promise;
}

GroupPromise grid_promise(const Run& run, const Group& group)
{
    const int columns = run.grid_columns;
    const auto p = static_cast<int>(group.size());
    const int rows = p / columns;
    const std::vector<std::byte> sum = ring_sum(run.values_before(group), run.n, run.dtype);
    GroupPromise promise;
    for (int rank = 0; rank < p; ++rank) {
        Promise own{sum, {0, run.n}, {}, count_of(run, std::min(rows, columns), 0)};
        const int first = rank - rank % columns;
        for (const int left_out : {0, 1}) {
            promise_traffic(run, columns, rank % columns + left_out, own.sent[first + (rank + 1) % columns]);
            promise_traffic(run, rows, rank / columns + left_out, own.sent[(rank + columns) % p]);
        }
        promise.ranks.push_back(std::move(own));
    }
    return promise;
}

std::vector<NamedCase> exact_cases(const std::string& function, const Promises& promises)
{
    std::vector<NamedCase> cases;
    for (const std::int64_t n : {4, 8})
        cases.push_back(case_of({function, {ranks_from(0, 1)}, n}, promises, if_stuck));
    for (const std::int64_t n : {12, 13, 1000})
        for (const int p : {4, 3, 8, 1})
            cases.push_back(case_of({function, {ranks_from(0, p - 1)}, n}, promises, if_stuck));
    for (const int p : {5, 6, 7})
        for (const std::int64_t n : {0, 1, 2, 4, 5, 6, 7, 61, 4096})
            cases.push_back(
                case_of({function, {ranks_from(0, p - 1), ranks_from(p, 7)}, n}, promises, if_stuck));
    for (const int p : {4, 8})
        for (const std::int64_t n : {0, 1, 3, 7, 9}) {
            Run run{function, {ranks_from(0, p - 1)}, n};
            if (p == 4) run.groups.push_back(ranks_from(4, 7));
            cases.push_back(case_of(run, promises, if_stuck));
        }
    return cases;
}

std::vector<NamedCase> bitwise_cases(const std::string& function, const Promises& promises)
{
    std::vector<NamedCase> cases;
    const auto add = [&](Run run) {
        run.function = function;
        cases.push_back(case_of(run, promises, if_stuck));
    };
    for (const DType dtype : all_dtypes) {
        add({"", {ranks_from(0, 7)}, 803, dtype, true});
        add({"", {ranks_from(0, 2), ranks_from(3, 7)}, 1001, dtype, true, 3, 2});
        add({"", {ranks_from(0, 5)}, 4, dtype, true, 1, 3});
    }
    // In the order of keys, not of the ranks in the world; a part of them; every other one.
    add({"", {{7, 6, 5, 4, 3, 2, 1, 0}}, 50});
    add({"", {{6, 2, 5}, {7, 0}}, 31, DType::fp64, false, 5});
    add({"", {{1, 3, 5, 7}, {6, 4, 2, 0}}, 122, DType::fp32, true, 2, 2});
    add({"", {ranks_from(0, 7)}, 1'000'003, DType::fp32, true, 1});
    return cases;
}

std::vector<NamedCase> time_cases(const std::string& function, const Promises& promises)
{
    std::vector<NamedCase> cases;
    for (const auto& [p, n, dtype] : {std::tuple{4, 4000, DType::fp32},
                                      {2, 20000, DType::fp64},
                                      {3, 3, DType::fp64},
                                      {8, 800, DType::bf16},
                                      {7, 70000, DType::fp16},
                                      {5, 5000, DType::fp64}}) {
        Run run{function, {ranks_from(0, p - 1)}, n, dtype, true};
        run.topology.devices_per_node = world_size;
        run.topology.intra = random_link(fmt::format("{} of {}", function, p));
        cases.push_back(case_of(run, promises, if_stuck));
        for (int rank = 0; rank < world_size; ++rank)
            run.starts.push_back(
                1e-4 * std::abs(random_values(fmt::format("start {} {}", p, rank), 1, DType::fp64)[0]));
        cases.push_back(case_of(run, promises, if_stuck));
    }
    for (const int nodes : {2, 4}) {
        Run run{function, {ranks_from(0, 7)}, 8000, DType::fp32, true};
        run.topology.nodes = nodes;
        run.topology.devices_per_node = world_size / nodes;
        cases.push_back(case_of(run, promises, if_stuck));
    }
    return cases;
}

}  // namespace collectives_test
