#include <limits>

#include "tests/04_data_parallel/models.hpp"
#include "tests/04_data_parallel/optimizer_run.hpp"

using namespace data_parallel_test;

namespace {

struct Terms {
    OptimizerRun run;
    bool check_overflow;

    std::string name() const
    {
        return fmt::format("{}, {}, degree {}, {}, bucket_bytes {}{}", run.name, name_of(run.dtype),
                           run.degree,
                           run.replicated() ? "all gradients" : fmt::format("rank {}'s shard", run.rank),
                           run.bucket_bytes(), check_overflow ? "" : ", overflow not to be looked for");
    }
};

bool finite(const std::vector<double>& values)
{
    return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

/// The segments, with the buckets that they are of, in the order of the terms.
struct Listed {
    std::size_t bucket;
    data_parallel::Segment segment;
};

std::vector<std::string> check_terms(const Terms& one, const RankResult& result)
{
    const ParameterModel model(one.run.model);
    const std::vector<data_parallel::Bucket> buckets = one.run.buckets(model);
    const Numbers gradients = start_of(one.run, buckets).gradients[0];
    const auto got = result.outputs.at("terms").get<std::vector<double>>();
    const std::vector<double> squares = squares_of(buckets, one.run.degree, gradients);
    if (got.size() != squares.size() + 1)
        return {
            fmt::format("there are {} terms, expected {}: one for the overflow, and one for every segment "
                        "of every bucket, whoever holds it",
                        got.size(), squares.size() + 1)};
    std::vector<Listed> order;
    for (std::size_t b = buckets.size(); b-- > 0;)
        for (const data_parallel::Segment& segment : data_parallel::segments_of(buckets[b], one.run.degree))
            order.push_back({b, segment});
    bool overflow = false;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        const data_parallel::Chunk part = one.run.part(buckets[b]);
        overflow = overflow || !finite({gradients[b].begin() + part.offset,
                                        gradients[b].begin() + part.offset + part.count});
    }
    std::vector<std::string> messages;
    const double counted = overflow && one.check_overflow ? 1.0 : 0.0;
    if (got[0] != counted)
        messages.push_back(
            fmt::format("the first term, of the overflow, is {}, expected {}", got[0], counted));
    for (std::size_t i = 0; i < order.size() && messages.empty(); ++i) {
        const bool held = one.run.replicated() || order[i].segment.owner == one.run.rank;
        const double expected = held ? squares[i] : 0.0;
        if (got[i + 1] == expected || (std::isnan(got[i + 1]) && std::isnan(expected))) continue;
        messages.push_back(compare_number(
            fmt::format("term {}, of the elements [{}, {}) of bucket {}{},", i + 1, order[i].segment.offset,
                        order[i].segment.offset + order[i].segment.count, order[i].bucket,
                        held ? "" : ", which is not held here"),
            got[i + 1], expected, {}));
        const auto elsewhere = std::ranges::find(squares, got[i + 1]);
        if (got[i + 1] != 0.0 && elsewhere != squares.end())
            messages.back() += fmt::format(
                ": that is the term of bucket {}; the first module's bucket, the list's last, comes first",
                order[static_cast<std::size_t>(elsewhere - squares.begin())].bucket);
    }
    return messages;
}

NamedCase terms_case(const Terms& one)
{
    const ParameterModel model(one.run.model);
    const std::vector<data_parallel::Bucket> buckets = one.run.buckets(model);
    const Start start = start_of(one.run, buckets);
    json inputs = inputs_of(one.run, buckets, start);
    inputs["check_overflow"] = one.check_overflow;
    for (std::size_t b = 0; b < buckets.size(); ++b)
        inputs[fmt::format("gradients {}", b)] =
            tensor_input({buckets[b].padded}, one.run.dtype, start.gradients[0][b]);
    return {one.name(), one_rank("norm_terms", inputs),
            [=](const RankResult& result) { return check_terms(one, result); }};
}

}  // namespace

TEST_CASE("04.4 norm_terms: every segment's sum of squares, in one order", "[04.4]")
{
    std::vector<NamedCase> cases;
    std::size_t number = 0;
    for (const int degree : {1, 2, 3, 4})
        for (const std::int64_t bucket_elements : {0, 30, 1000})
            for (int rank = -1; rank < degree; ++rank) {
                OptimizerRun run{.name = "a tied GPT", .model = tied_gpt};
                run.dtype = all_dtypes[number++ % all_dtypes.size()];
                run.degree = degree;
                run.bucket_elements = bucket_elements;
                run.rank = rank;
                cases.push_back(terms_case({run, true}));
            }
    run_and_check("optimizer", cases);
}

TEST_CASE("04.4 norm_terms: overflow", "[04.4]")
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::vector<NamedCase> cases;
    for (const double value : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()})
        for (const std::size_t bucket : {0, 3})
            for (const bool check_overflow : {true, false}) {
                OptimizerRun run{.name = fmt::format("{} in bucket {}", value, bucket), .model = tied_gpt};
                run.dtype = DType::fp16;
                run.degree = 2;
                run.overflows = {1};
                run.overflow_bucket = bucket;
                run.infinity = value;
                cases.push_back(terms_case({run, check_overflow}));
            }
    OptimizerRun large{.name = "gradients of up to 60000", .model = tied_gpt};
    large.dtype = DType::fp16;
    large.scale = 12000.0;
    cases.push_back(terms_case({large, true}));
    run_and_check("optimizer", cases);
}
