#include <cmath>

#include "tests/02_training_step/batch.hpp"

using namespace training_test;

namespace {

/// What a wrong token weight usually means.
std::string cause_of_weight(const Batch& batch, double got)
{
    const double tokens = static_cast<double>(batch.sequences * batch.tokens);
    if (got == 1.0 / tokens) return "; targets of -1 do not count";
    const auto part = static_cast<std::ptrdiff_t>(tokens) / batch.micro_batches;
    const auto in_first = static_cast<double>(
        std::count_if(batch.targets.begin(), batch.targets.begin() + part, [](int t) { return t >= 0; }));
    const auto parts = static_cast<double>(batch.micro_batches);
    if (got == 1.0 / in_first || std::abs(got * in_first * parts - 1.0) < 1e-12)
        return "; the mean over the batch is not the mean of the micro-batches' means when they count "
               "different numbers of tokens: divide by the counted tokens of the whole batch";
    if (std::abs(got * batch.counted() * parts - 1.0) < 1e-12)
        return "; it is divided by the number of micro-batches too";
    return "";
}

NamedCase split_case(const Batch& batch)
{
    return {batch.name(), one_rank("split_batch", batch.as_json()), [=](const RankResult& result) {
                const json& out = result.outputs;
                const std::int64_t m = batch.micro_batches;
                std::vector<double> indices;
                for (std::int64_t i = 0; i < m; ++i) indices.push_back(static_cast<double>(i));
                std::vector<std::string> messages{
                    compare_list("sequences", out.at("sequences"),
                                 repeated(m, static_cast<double>(batch.sequences / m))),
                    compare_list("tokens", out.at("tokens"), repeated(m, static_cast<double>(batch.tokens))),
                    compare_list("inputs, one part after the other,", out.at("inputs"),
                                 {batch.inputs.begin(), batch.inputs.end()}),
                    compare_list("targets, one part after the other,", out.at("targets"),
                                 {batch.targets.begin(), batch.targets.end()}),
                    compare_list("index", out.at("indices"), indices)};
                std::string weights =
                    compare_list("token_weight", out.at("token_weights"), repeated(m, 1.0 / batch.counted()));
                if (!weights.empty() && !out.at("token_weights").empty())
                    weights += cause_of_weight(batch, out.at("token_weights").at(0).get<double>());
                messages.push_back(weights);
                return messages;
            }};
}

}  // namespace

TEST_CASE("02.3 split_batch: equal parts in order, weighed by the tokens of the whole batch", "[02.3]")
{
    std::vector<NamedCase> cases;
    for (const std::int64_t micro_batches : {1, 2, 3, 6}) {
        cases.push_back(split_case(make_batch(6, 5, micro_batches, 0)));
        cases.push_back(split_case(make_batch(6, 5, micro_batches, 7)));
    }
    cases.push_back(split_case(make_batch(1, 1, 1, 0)));
    cases.push_back(split_case(make_batch(4, 1, 4, 3)));
    run_and_check("accumulation", cases);
}
