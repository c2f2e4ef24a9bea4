#include "lessons/04_data_parallel/batch_shard.hpp"

#include "tests/04_data_parallel/support.hpp"

using namespace data_parallel_test;

namespace {

struct Sharding {
    std::int64_t sequences, tokens, micro_batches;
    int degree;
    std::vector<std::int32_t> targets;

    std::int64_t parts() const { return degree * micro_batches; }
    std::int64_t part_tokens() const { return sequences * tokens / parts(); }
    std::string name() const
    {
        return fmt::format("{} sequences of {} tokens for {} ranks of {} micro-batches", sequences, tokens,
                           degree, micro_batches);
    }
};

double counted(std::span<const std::int32_t> targets)
{
    return static_cast<double>(std::ranges::count_if(targets, [](int target) { return target >= 0; }));
}

/// Of every target about every `spread`-th counts, and all of the last one's part; `spread` 0: just one.
Sharding make_sharding(std::int64_t sequences, std::int64_t tokens, int degree, std::int64_t micro_batches,
                       std::int32_t spread)
{
    Sharding one{sequences, tokens, micro_batches, degree, {}};
    const std::vector<std::int32_t> draws =
        random_ids(one.name(), sequences * tokens, std::max(spread, std::int32_t{1}));
    for (std::size_t i = 0; i < draws.size(); ++i)
        one.targets.push_back(spread > 0 && draws[i] == 0 ? static_cast<std::int32_t>(i % 50) : -1);
    const std::int64_t last = spread > 0 ? one.part_tokens() : 1;
    std::fill_n(one.targets.rbegin(), last, 3);
    return one;
}

json inputs_of(const Sharding& one, bool refused)
{
    return {{"sequences", one.sequences},
            {"tokens", one.tokens},
            {"degree", one.degree},
            {"micro_batches", one.micro_batches},
            {"inputs", random_ids(one.name() + " inputs", one.sequences * one.tokens, 50)},
            {"targets", one.targets},
            {"refused", refused}};
}

/// What a wrong weight is one over.
std::string cause_of(const Sharding& one, double weight, std::int64_t part)
{
    const std::span<const std::int32_t> all(one.targets);
    const std::int64_t of_rank = one.part_tokens() * one.micro_batches;
    const auto is = [&](double tokens) { return tokens > 0.0 && std::abs(weight * tokens - 1.0) < 1e-9; };
    const auto run = [&](std::int64_t first, std::int64_t count) {
        return counted(all.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
    };
    if (is(static_cast<double>(all.size()))) return ": targets of -1 do not count";
    if (is(run(part / one.micro_batches * of_rank, of_rank)))
        return ": that is 1 / (this rank's own counted targets), and makes a mean of the ranks' means";
    if (is(run(part * one.part_tokens(), one.part_tokens())))
        return ": that is 1 / (this part's own counted targets), and makes a mean of means";
    if (is(counted(all) * one.degree)) return ": it is divided by the number of ranks once more";
    if (is(counted(all) * static_cast<double>(one.micro_batches)))
        return ": it is divided by the number of micro-batches once more";
    return "";
}

std::vector<std::string> check_part(const Sharding& one, const RankResult& result, std::int64_t part)
{
    const auto i = static_cast<std::size_t>(part);
    const std::int64_t length = one.part_tokens();
    const std::string name =
        fmt::format("rank {}'s micro-batch {}", part / one.micro_batches, part % one.micro_batches);
    std::vector<std::string> messages;
    const auto expect = [&](const char* output, std::int64_t expected, const char* what) {
        const std::int64_t got = indices(result, output)[i];
        if (got != expected)
            messages.push_back(fmt::format("{} {} {}, expected {}", name, what, got, expected));
    };
    expect("sequences", one.sequences / one.parts(), "has a number of sequences of");
    expect("tokens", one.tokens, "has a number of tokens a sequence of");
    expect("indices", part % one.micro_batches, "has the index");
    for (const bool of_inputs : {true, false}) {
        const char* array = of_inputs ? "inputs" : "targets";
        const std::int64_t begin = indices(result, fmt::format("{}_begin", array))[i];
        const std::int64_t size = indices(result, "sizes")[2 * i + (of_inputs ? 0 : 1)];
        if (begin < 0)
            messages.push_back(
                fmt::format("{}: its {} are no view of the global batch's array", name, array));
        else if (begin != part * length || size != length)
            messages.push_back(fmt::format("{} has the {} [{}, {}) of the global batch, expected [{}, {})",
                                           name, array, begin, begin + size, part * length,
                                           (part + 1) * length));
    }
    const auto weight = result.outputs.at("token_weights").at(i).get<double>();
    const std::string message =
        compare_number(name + ": its token_weight", weight, 1.0 / counted(one.targets), {});
    messages.push_back(message.empty() ? "" : message + cause_of(one, weight, part));
    return messages;
}

std::vector<std::string> check_sharding(const Sharding& one, const RankResult& result)
{
    const std::vector<std::int64_t> counts = indices(result, "counts");
    for (std::size_t rank = 0; rank < counts.size(); ++rank)
        if (counts[rank] != one.micro_batches)
            return {fmt::format("rank {} has {} micro-batches, expected {}", rank, counts[rank],
                                one.micro_batches)};
    std::vector<std::string> messages;
    for (std::int64_t part = 0; part < one.parts(); ++part)
        for (const std::string& message : check_part(one, result, part)) messages.push_back(message);
    return messages;
}

NamedCase sharding_case(const Sharding& one)
{
    return {one.name(), one_rank("shard_batch", inputs_of(one, false)),
            [=](const RankResult& result) { return check_sharding(one, result); }};
}

NamedCase refused_case(const Sharding& one, const std::string& needed)
{
    return {one.name(), one_rank("shard_batch", inputs_of(one, true)), [=](const RankResult& result) {
                return std::vector<std::string>{refusal_problem(result, needed)};
            }};
}

}  // namespace

TEST_CASE("04.1 shard_batch: parts, their order, index and weight", "[04.1]")
{
    std::vector<NamedCase> cases;
    for (const int degree : {1, 2, 3, 4, 5, 8})
        for (const std::int64_t micro_batches : {1, 2, 3})
            for (const std::int32_t spread : {3, 0})
                cases.push_back(sharding_case(
                    make_sharding(2 * degree * micro_batches, 4, degree, micro_batches, spread)));
    cases.push_back(sharding_case(make_sharding(6, 1, 2, 3, 2)));
    cases.push_back(sharding_case(make_sharding(1, 1, 1, 1, 1)));
    cases.push_back(sharding_case(make_sharding(7, 5, 7, 1, 1)));
    for (const auto& [sequences, degree, micro_batches] :
         std::vector<std::tuple<int, int, int>>{{6, 4, 1}, {6, 2, 2}, {8, 3, 1}, {2, 4, 1}})
        cases.push_back(refused_case(
            {sequences, 3, micro_batches, degree, std::vector<std::int32_t>(3 * sequences, 1)}, "--dp"));
    cases.push_back(refused_case({4, 3, 2, 2, std::vector<std::int32_t>(12, -1)}, "target"));
    run_and_check("batch_shard", cases);
}
