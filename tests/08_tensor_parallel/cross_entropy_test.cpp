// 08.3 Cross-entropy over a vocabulary in parts, against the whole, computed here in long double.
#include <numeric>

#include "tests/08_tensor_parallel/support.hpp"

using namespace tensor_parallel_test;

namespace {

enum class Logits { usual, large, apart };

/// Rows of logits, of which each rank has the columns of its entries.
struct Run {
    GroupOf group;
    std::int64_t rows, vocabulary;
    DType dtype;
    Logits kind = Logits::usual;
    bool all_masked = false;
    double weight = 0.125, dloss = 4.0;

    collectives::Chunk entries(int rank) const { return collectives::chunk_of(vocabulary, group.p, rank); }
    std::string name() const
    {
        static const std::vector<std::string> kinds{"", ", large logits", ", ranks far apart"};
        return fmt::format("T = {}, {} rows, V = {}, {}{}{}", group.p, rows, vocabulary, name_of(dtype),
                           kinds[static_cast<std::size_t>(kind)], all_masked ? ", no target" : "");
    }

    /// Large ones are of the order of 1000, exp of which no dtype holds. Apart: those of rank r are about
    /// 300 (−1)^r, so that the largest of one rank are nothing beside those of the next.
    std::vector<double> logits() const
    {
        Device device{DeviceOptions{}};
        std::vector<double> all = random_values("logits " + name(), rows * vocabulary, DType::fp64);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto column = static_cast<std::int64_t>(i) % vocabulary;
            int rank = 0;
            while (column >= entries(rank).offset + entries(rank).count) ++rank;
            if (kind == Logits::large) all[i] = 500.0 * all[i] + 1000.0;
            if (kind == Logits::apart) all[i] += rank % 2 == 0 ? -300.0 : 300.0;
        }
        Tensor rounded(device, {static_cast<std::int64_t>(all.size())}, dtype, Category::workspace);
        from_doubles(all, rounded);
        return to_doubles(rounded);
    }
    /// One in four is masked.
    std::vector<std::int32_t> targets() const
    {
        std::vector<std::int32_t> ids = random_ids(name(), rows, vocabulary);
        for (std::size_t i = 0; i < ids.size(); ++i)
            if (all_masked || i % 4 == 2) ids[i] = -1;
        return ids;
    }
    std::vector<double> own_columns(const std::vector<double>& all, int rank) const
    {
        std::vector<double> own;
        const collectives::Chunk chunk = entries(rank);
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t j = 0; j < chunk.count; ++j)
                own.push_back(all[static_cast<std::size_t>(row * vocabulary + chunk.offset + j)]);
        return own;
    }
};

/// The whole, from the logits as they were rounded.
struct Expected {
    std::vector<double> logits;
    std::vector<std::int32_t> targets;
    std::vector<double> log_denominators, dlogits;
    double loss = 0.0, size = 0.0;  // size: of the terms of the loss
    double largest = 0.0;           // |logit|

    explicit Expected(const Run& run) : logits(run.logits()), targets(run.targets())
    {
        long double sum = 0.0L;
        for (std::int64_t i = 0; i < run.rows; ++i) {
            const auto first = logits.begin() + i * run.vocabulary;
            const std::span<const double> row(&*first, static_cast<std::size_t>(run.vocabulary));
            const std::int32_t target = targets[static_cast<std::size_t>(i)];
            const long double most = *std::ranges::max_element(row);
            long double denominator = 0.0L;
            for (const double x : row) denominator += std::exp(x - most);
            const long double log_denominator = most + std::log(denominator);
            log_denominators.push_back(static_cast<double>(log_denominator));
            for (std::size_t j = 0; j < row.size(); ++j) {
                const long double one = static_cast<std::int32_t>(j) == target ? 1.0L : 0.0L;
                const long double d = run.dloss * run.weight * (std::exp(row[j] - log_denominator) - one);
                dlogits.push_back(target < 0 ? 0.0 : static_cast<double>(d));
                largest = std::max(largest, std::abs(row[j]));
            }
            if (target < 0) continue;
            sum += log_denominator - row[static_cast<std::size_t>(target)];
            size += std::abs(static_cast<double>(log_denominator - row[static_cast<std::size_t>(target)]));
        }
        loss = static_cast<double>(run.weight * sum);
        size *= run.weight;
    }
};

/// How far a row's log Σ exp(x_j) may be off, computed in a type of roundoff u. Every x_j − max is off by u
/// |x_j − max| <= 2 u A with A the largest |logit|, so its exp by that relative error and 2 u of its own;
/// adding V of them and, over the ranks, p: V + p u. The logarithm turns relative errors into absolute ones,
/// 2 u A + (V + p + 4) u, and so does it once more for the ranks' own results, each rounded when its maximum
/// is added, u (A + log V): in all less than 6 u A + 2 (V + p + 6) u.
double row_bound(const Run& run, const Expected& expected)
{
    return roundoff(sum_dtype(run.dtype)) *
           (6.0 * expected.largest + 2.0 * static_cast<double>(run.vocabulary + run.group.p + 6));
}

std::vector<json> inputs_of(const Run& run, const Expected& expected)
{
    std::vector<json> inputs;
    for (int rank = 0; rank < run.group.p; ++rank) {
        const collectives::Chunk own = run.entries(rank);
        inputs.push_back(
            {{"first_entry", own.offset},
             {"entries", own.count},
             {"targets", expected.targets},
             {"weight", run.weight},
             {"dloss", run.dloss},
             {"logits",
              tensor_input({run.rows, own.count}, run.dtype, run.own_columns(expected.logits, rank))},
             {"log_denominator", tensor_input({run.rows}, sum_dtype(run.dtype), expected.log_denominators)}});
    }
    return inputs;
}

/// One number a row for every other rank, and the loss: by the longest way that is reasonable, once around
/// the ring in both halves, 2 (p − 1) numbers of 8 bytes.
std::string compare_never_logits(const Run& run, const RankResult& own)
{
    const auto others = static_cast<std::uint64_t>(run.group.p - 1);
    const std::uint64_t most =
        others * (static_cast<std::uint64_t>(run.rows) * size_of(sum_dtype(run.dtype)) + 16);
    const auto sent = own.measured.at("bytes").get<std::uint64_t>();
    return sent <= most ? ""
                        : fmt::format(
                              "sent {} bytes, expected at most {}: one number a row for each other rank, and "
                              "one loss, never the logits",
                              sent, most);
}

std::vector<std::string> check_forward(const Run& run, const Expected& expected, const CaseResult& result)
{
    const DType sums = sum_dtype(run.dtype);
    const double bound = row_bound(run, expected);
    // Each counted row's term is off by its log denominator, twice, and by 2 roundings of numbers <= 2 A +
    // log V on the way through the rank's own; their sum in fp64 by a rounding a row and rank.
    const double counted =
        static_cast<double>(std::ranges::count_if(expected.targets, [](auto t) { return t >= 0; }));
    const double loss_bound =
        run.weight * counted * 3.0 * bound +
        static_cast<double>(run.rows + run.group.p) * roundoff(DType::fp64) * expected.size;
    std::vector<std::string> messages;
    for (int rank = 0; rank < run.group.p; ++rank) {
        const RankResult& own = run.group.at(result, rank);
        const auto returned = 8 + run.rows * static_cast<std::int64_t>(size_of(sums));
        for (const std::string& message :
             {compare("log_denominator", own.outputs.at("log_denominator"),
                      tensor_input({run.rows}, sums, expected.log_denominators), {0.0, bound}),
              compare_number("the loss", values_of(own.outputs.at("loss")).at(0), expected.loss,
                             {0.0, loss_bound}),
              compare_never_logits(run, own), compare_left(own, returned),
              compare_unchanged(own, inputs_of(run, expected)[static_cast<std::size_t>(rank)], {"logits"})})
            messages.push_back(on_rank(rank, message));
    }
    messages.push_back(compare_on_all("loss", result));
    messages.push_back(compare_on_all("log_denominator", result));
    return messages;
}

/// exp(x − l) with x and l as given: the difference is off by u |x − l| <= u (2 A + log V), l by its rounding
/// u A, the exponential by 2 u and the product by u; the one is subtracted with a rounding of at most 2 u,
/// and the result is rounded to the dtype.
std::vector<std::string> check_backward(const Run& run, const Expected& expected, const CaseResult& result)
{
    const double u = roundoff(sum_dtype(run.dtype));
    const double factor = std::abs(run.dloss * run.weight);
    const double bound = factor * u * (3.0 * expected.largest + 16.0);
    std::vector<std::string> messages;
    for (int rank = 0; rank < run.group.p; ++rank) {
        const RankResult& own = run.group.at(result, rank);
        const json right = tensor_input({run.rows, run.entries(rank).count}, run.dtype,
                                        run.own_columns(expected.dlogits, rank));
        // The least positive number of fp16, 6e-8, is the step where numbers are smaller than its normal
        // ones.
        const double step = run.dtype == DType::fp16 ? std::ldexp(1.0, -24) : 0.0;
        const auto peak =
            own.measured.at("peak").get<std::int64_t>() - own.measured.at("begin").get<std::int64_t>();
        const bool in_place = is_sixteen_bit(run.dtype) || peak == 0;
        for (const std::string& message :
             {compare("dlogits", own.outputs.at("dlogits"), right, {roundoff(run.dtype), bound + step}),
              compare_left(own, 0),
              std::string(
                  in_place
                      ? ""
                      : "further memory is in use during it, expected dlogits in the memory of the logits"),
              compare_sent(run.group, rank, own, {})})
            messages.push_back(on_rank(rank, message));
    }
    return messages;
}

std::vector<Run> runs()
{
    std::vector<Run> all;
    for (const int p : {1, 2, 3, 4, 8}) {
        all.push_back({{p, false}, 9, 13, DType::fp64});
        all.push_back({{p, true}, 6, p, DType::fp32});
        all.push_back({{p, false}, 5, 24, DType::bf16});
        all.push_back({{p, false}, 7, 19, DType::fp16, Logits::large});
        all.push_back({{p, true}, 7, 19, DType::fp64, Logits::large});
        all.push_back({{p, false}, 8, 17, DType::fp32, Logits::apart});
        all.push_back({{p, false}, 3, 40, DType::fp64, Logits::usual, true});
        all.push_back({{p, false}, 1, 50, DType::fp32});
    }
    return all;
}

std::vector<NamedCase> cases_of(const std::string& operation,
                                std::vector<std::string> (*check)(const Run&, const Expected&,
                                                                  const CaseResult&))
{
    std::vector<NamedCase> cases;
    for (const Run& run : runs()) {
        const Expected expected(run);
        cases.push_back({run.name(), run.group.input(operation, inputs_of(run, expected)),
                         [=](const CaseResult& result) { return check(run, expected, result); }});
    }
    return cases;
}

}  // namespace

TEST_CASE("08.3 cross_entropy_forward: loss and denominators over the whole vocabulary", "[08.3]")
{
    run_and_check("vocabulary", cases_of("cross_entropy_forward", check_forward));
}

TEST_CASE("08.3 cross_entropy_backward: the gradient of the own entries' logits", "[08.3]")
{
    run_and_check("vocabulary", cases_of("cross_entropy_backward", check_backward));
}
