// 08.4 The whole model in parts against the single process: losses, gradients, parameters.
#include "tests/08_tensor_parallel/model_runs.hpp"

using namespace tensor_parallel_test;

namespace {

double largest(const std::vector<double>& values)
{
    double most = 0.0;
    for (const double value : values) most = std::max(most, std::abs(value));
    return most;
}

double root_mean_square(const std::vector<double>& a, const std::vector<double>& b)
{
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(sum / static_cast<double>(a.size()));
}

/// A rank's gradient as the slice of a whole one says.
std::string compare_gradient(const GptRun& run, const json& out, const std::string& name,
                             const std::vector<double>& whole, Tolerance tolerance)
{
    const Slice slice = slice_of(out, name);
    if (elements_of(slice.global) != static_cast<std::int64_t>(whole.size()))
        return fmt::format("{} is a part of {} elements, expected {}", name, to_string(slice.global),
                           whole.size());
    return compare("the gradient of " + name, out.at("gradient " + name),
                   tensor_input(slice.shape, run.at.dtype, cut(slice, whole)), tolerance);
}

/// Head and lookup have an accumulator each, as in the single process.
std::string compare_lookup(const CaseResult& result)
{
    const auto added = [](const RankResult& rank) { return rank.outputs.at("lookup").get<double>() > 0.0; };
    if (std::ranges::any_of(result.ranks, added)) return "";
    return "nothing was added to the second gradient of wte.weight, expected what the lookup gives";
}

/// What must hold bit by bit between the ranks, and at the end.
std::vector<std::string> check_ranks(const GptRun& run, const SingleProcess& single, const CaseResult& result)
{
    std::vector<std::string> messages{compare_on_all("loss", result), compare_lookup(result)};
    for (const FlatEntry& entry : single.layout().entries) {
        const std::string& name = entry.parameter->name;
        const Slice slice = slice_of(result.ranks[0].outputs, name);
        if (slice.shape == slice.global) messages.push_back(compare_on_all("gradient " + name, result));
    }
    for (int rank = 0; rank < run.at.group.p; ++rank) {
        const RankResult& own = run.at.group.at(result, rank);
        if (own.outputs.at("saved left").get<double>() != 0.0)
            messages.push_back(on_rank(rank, "activations are left on `saved` after the backward pass"));
        messages.push_back(on_rank(rank, compare_left(own, 0)));
    }
    return messages;
}

/// fp64: loss and gradients within 1e-12 of the largest element.
///
/// A gradient is a sum over at most 36 rows of what went through sums over at most h = 64 numbers, in another
/// order here: at most 2 · 100 u Σ |t| = 2.2e-14 Σ |t| for a layer, u = 1.1e-16, and both passes of two
/// blocks follow each other. 1e-12 leaves a factor of 10 for terms that cancel.
std::vector<std::string> check_exact(const GptRun& run, const CaseResult& result)
{
    constexpr double relative = 1e-12;
    const SingleProcess single(run, DType::fp64);
    const ByName gradients = single.gradients();
    std::vector<std::string> messages;
    for (int rank = 0; rank < run.at.group.p; ++rank) {
        const json& out = run.at.group.at(result, rank).outputs;
        messages.push_back(on_rank(
            rank, compare_number("the loss", out.at("loss").get<double>(), single.loss(), {relative, 0.0})));
        for (const FlatEntry& entry : single.layout().entries) {
            const std::string& name = entry.parameter->name;
            const std::vector<double>& whole = gradients.at(name);
            messages.push_back(
                on_rank(rank, compare_gradient(run, out, name, whole, {0.0, relative * largest(whole)})));
        }
    }
    append(messages, check_ranks(run, single, result));
    return messages;
}

/// Σ over the counted rows of twice the largest error of a logit in the dtype: more than the loss of a single
/// process in that dtype is off, whichever way the rows' errors add up.
double loss_error(const GptRun& run, const SingleProcess& rounded, const SingleProcess& exact)
{
    const GptBatch batch(run);
    double sum = 0.0;
    for (const MicroBatch& part : batch.parts()) {
        const std::vector<double> a = to_doubles(transformer::predict(rounded.modules(), part));
        const std::vector<double> b = to_doubles(transformer::predict(exact.modules(), part));
        const auto vocabulary = static_cast<std::size_t>(run.shape.vocabulary);
        for (std::size_t row = 0; row < part.targets.size(); ++row) {
            if (part.targets[row] < 0) continue;
            double most = 0.0;
            for (std::size_t j = row * vocabulary; j < (row + 1) * vocabulary; ++j)
                most = std::max(most, std::abs(a[j] - b[j]));
            sum += 2.0 * part.token_weight * most;
        }
    }
    return sum;
}

/// The other dtypes: errors, against fp64 from the same parameters, of the size of a single process's in that
/// dtype.
///
/// There every number that is stored is rounded once: forward and backward, a block stores more than 20. Here
/// each of its four sums adds p partial sums that are rounded to the dtype, p roundings of each and p − 1 of
/// the sum: 8 p more for the four, at most 64 with 8 ranks. Errors grow in proportion at most, to (20 + 64) /
/// 20 = 4.2 times; twice that, as the single process's root mean square error is itself one draw.
std::vector<std::string> check_rounded(const GptRun& run, const CaseResult& result)
{
    constexpr double factor = 8.4;
    const SingleProcess exact(run, DType::fp64), rounded(run, run.at.dtype);
    const ByName right = exact.gradients(), usual = rounded.gradients();
    const double loss_bound = factor * (loss_error(run, rounded, exact) + roundoff(DType::fp32));
    std::vector<std::string> messages;
    for (int rank = 0; rank < run.at.group.p; ++rank) {
        const json& out = run.at.group.at(result, rank).outputs;
        messages.push_back(on_rank(
            rank, compare_number("the loss", out.at("loss").get<double>(), exact.loss(), {0.0, loss_bound})));
        for (const auto& [name, whole] : right) {
            const Slice slice = slice_of(out, name);
            const std::vector<double> got = values_of(out.at("gradient " + name));
            const double error = root_mean_square(got, cut(slice, whole));
            const double bound = factor * root_mean_square(usual.at(name), whole);
            if (!(error <= bound))
                messages.push_back(on_rank(
                    rank, fmt::format("the gradient of {} is off by {:.3g} (root mean square), expected at "
                                      "most {:.3g}: 8.4 times what a single process in {} is off",
                                      name, error, bound, name_of(run.at.dtype))));
        }
    }
    append(messages, check_ranks(run, exact, result));
    return messages;
}

template <class Check>
NamedCase gpt_case(const GptRun& run, const Check& check)
{
    return {run.name(), run.case_input("gpt"), [=](const CaseResult& result) { return check(run, result); }};
}

}  // namespace

TEST_CASE("08.4 make_gpt: losses and gradients in fp64 are the single process's", "[08.4]")
{
    std::vector<NamedCase> cases;
    for (const int p : {1, 2, 3, 4, 8})
        for (const GptRun& run : exact_runs(p)) cases.push_back(gpt_case(run, check_exact));
    run_and_check("model", cases, 10.0);
}

TEST_CASE("08.4 make_gpt: fp32, bf16 and fp16 are as exact as in a single process", "[08.4]")
{
    std::vector<NamedCase> cases;
    for (const int p : {1, 2, 3, 4, 8})
        for (const GptRun& run : rounded_runs(p)) cases.push_back(gpt_case(run, check_rounded));
    run_and_check("model", cases, 10.0);
}
