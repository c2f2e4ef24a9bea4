// Whole training runs: what is promised about data parallelism and the single process.
#include "tests/04_data_parallel/single_run.hpp"

using namespace data_parallel_test;

namespace {

std::vector<double> bucket_numbers(const RankResult& result, const std::string& name, std::size_t b)
{
    return result.outputs.at(fmt::format("{} {}", name, b)).at("values").get<std::vector<double>>();
}

Numbers all_numbers(const RankResult& result, const std::string& name, std::size_t buckets)
{
    Numbers numbers;
    for (std::size_t b = 0; b < buckets; ++b) numbers.push_back(bucket_numbers(result, name, b));
    return numbers;
}

/// The first parameter whose numbers are not within `bounds` of what is expected.
std::string named_problem(const std::string& what, const ByName& got, const ByName& expected,
                          const ByName& bounds)
{
    for (const auto& [name, right] : expected)
        for (std::size_t i = 0; i < right.size(); ++i) {
            const double bound = bounds.empty() ? 0.0 : bounds.at(name)[i];
            if (std::abs(got.at(name)[i] - right[i]) <= bound) continue;
            const auto shape = Shape{static_cast<std::int64_t>(right.size())};
            return compare(fmt::format("{} {}", what, name), tensor_input(shape, DType::fp64, got.at(name)),
                           tensor_input(shape, DType::fp64, right), {0.0, bound});
        }
    return "";
}

/// `relative` times the largest element of each parameter.
ByName of_the_largest(const ByName& values, double relative)
{
    ByName bounds;
    for (const auto& [name, numbers] : values) {
        double largest = 0.0;
        for (const double number : numbers) largest = std::max(largest, std::abs(number));
        bounds[name].assign(numbers.size(), relative * largest);
    }
    return bounds;
}

double sum(const std::vector<double>& values)
{
    double total = 0.0;
    for (const double value : values) total += value;
    return total;
}

/// The rank's losses, one a step.
std::vector<double> losses_of(const RankResult& rank)
{
    return rank.outputs.at("losses").get<std::vector<double>>();
}

double loss_of(const CaseResult& result, std::int64_t step)
{
    std::vector<double> losses;
    for (const RankResult& rank : result.ranks)
        losses.push_back(losses_of(rank)[static_cast<std::size_t>(step)]);
    return sum(losses);
}

// --- bitwise what the ranks' own sums give
// ------------------------------------------------------------------

/// Losses, summed gradients, norms and skipped steps of every step, and the values at the end: on all ranks
/// the bits that follow from the micro-batches of each, the ring's order, and lesson 02's update.
std::vector<std::string> check_bitwise(const TrainingRun& run, const CaseResult& result)
{
    GroupRun expected(run);
    const std::size_t buckets = expected.buckets().size();
    for (std::int64_t s = 0; s < run.steps; ++s) {
        const GroupStep step = expected.step(s);
        const auto in_step = [&](const std::string& text) { return fmt::format("step {}: {}", s + 1, text); };
        std::vector<std::string> messages;
        for (int rank = 0; rank < run.ranks; ++rank) {
            const RankResult& own = result.ranks[static_cast<std::size_t>(rank)];
            const auto number = [&](const char* name) {
                return own.outputs.at(name).at(static_cast<std::size_t>(s)).get<double>();
            };
            const auto compare_own = [&](const char* what, const char* name, double right) {
                messages.push_back(on_rank(rank, compare_number(in_step(what), number(name), right, {})));
            };
            compare_own("the loss of the own part", "losses", step.losses[static_cast<std::size_t>(rank)]);
            compare_own("the gradient norm", "norms", step.norm);
            compare_own("skipped", "skipped", step.skipped ? 1.0 : 0.0);
        }
        if (!step.skipped)
            messages.insert(
                messages.begin(),
                named_problem(in_step("gradients of"),
                              by_name(expected.buckets(),
                                      all_numbers(result.ranks[0], fmt::format("gradients {}", s), buckets)),
                              by_name(expected.buckets(), step.sums), {}));
        if (!join(messages).empty()) return messages;
    }
    std::vector<std::string> messages;
    for (int rank = 0; rank < run.ranks; ++rank)
        for (std::size_t b = 0; b < buckets; ++b) {
            const RankResult& own = result.ranks[static_cast<std::size_t>(rank)];
            const auto compare_own = [&](const std::string& name, const Tensor& right) {
                messages.push_back(
                    on_rank(rank, compare(fmt::format("{} of bucket {} after {} steps", name, b, run.steps),
                                          own.outputs.at(fmt::format("{} {}", name, b)), right, {})));
            };
            compare_own("values", expected.values()[b]);
            compare_own("m", expected.states()[b].m);
        }
    return messages;
}

// --- the single process
// -------------------------------------------------------------------------------------

/// fp64: losses and gradients of every step to 1e-12 of the largest; one rank: the same bits.
///
/// A gradient is a sum over n = B T = 144 rows. Two orders of adding them differ by at most 2 n u Σ |t| =
/// 3.2e-14 Σ |t|, u = 1.1e-16. AdamW moves a weight by about learning_rate · m / sqrt(v), so a relative
/// difference d of its gradients moves it by 1e-2 d in a step and by 0.2 d in 20 steps; a gradient that
/// changes by its own size when a weight does by 1 then differs by less than d once more. 1e-12 leaves a
/// factor of 15 for terms that cancel, Σ |t| being larger than the largest sum, and tells every wrong factor
/// from 1.
std::vector<std::string> check_single(const TrainingRun& run, const CaseResult& result)
{
    const double relative = run.ranks == 1 ? 0.0 : 1e-12;
    const GroupRun group(run);  // for its buckets
    SingleRun single(run);
    for (std::int64_t s = 0; s < run.steps; ++s) {
        const double loss = single.accumulate(s, run.ranks == 1 ? run.micro_batches : 1);
        const ByName gradients = single.gradients();
        const training::UpdateResult update = single.update();
        const std::vector<std::string> messages{
            compare_number(fmt::format("step {}: the loss", s + 1), loss_of(result, s), loss,
                           {relative, 0.0}),
            update.skipped
                ? ""
                : named_problem(
                      fmt::format("step {}: gradients of", s + 1),
                      by_name(group.buckets(), all_numbers(result.ranks[0], fmt::format("gradients {}", s),
                                                           group.buckets().size())),
                      gradients, of_the_largest(gradients, relative))};
        if (!join(messages).empty()) return messages;
    }
    if (run.ranks > 1) return {};
    return {named_problem(
        "values at the end of",
        by_name(group.buckets(), all_numbers(result.ranks[0], "values", group.buckets().size())),
        single.values(), {})};
}

/// Losses and gradients of every step against the single process that starts it from the same parameters.
///
/// Every sequence is one token and a micro-batch of its own, so that each of the n parts adds one term to
/// every gradient (two to the tied embedding's, in two accumulators). Both sides add the same terms t. The
/// single process rounds at most n times on the way from a term to the gradient, and once when the tied
/// embedding's accumulators are merged; here it is M times in the rank's own sum, once for the merging, and
/// p − 1 times in the ring. With k = n + M + p + 1 roundings in all, the two differ by at most
/// k u / (1 − k u) · Σ |t|. 16-bit gradients are added in fp32 and then rounded, which makes u larger by two
/// roundings of fp32. The losses are sums of n positive fp64 numbers.
std::vector<std::string> check_bound(const TrainingRun& run, const CaseResult& result)
{
    const std::int64_t parts = run.ranks * run.micro_batches;
    const double u =
        unit_roundoff(run.dtype) + (is_sixteen_bit(run.dtype) ? 2.0 * unit_roundoff(DType::fp32) : 0.0);
    const double k = static_cast<double>(parts + run.micro_batches + run.ranks + 1);
    GroupRun group(run);
    SingleRun single(run);
    for (std::int64_t s = 0; s < run.steps; ++s) {
        Numbers values;
        for (const Tensor& bucket : group.values()) values.push_back(to_doubles(bucket));
        single.set_values(by_name(group.buckets(), values));
        ByName bounds = single.sizes_of_terms(s, parts);
        for (auto& [name, sizes] : bounds)
            for (double& size : sizes) size *= k * u / (1.0 - k * u);
        const double loss = single.accumulate(s, parts);
        const std::vector<std::string> messages{
            compare_number(fmt::format("step {}: the loss", s + 1), loss_of(result, s), loss,
                           {k * unit_roundoff(DType::fp64), 0.0}),
            named_problem(
                fmt::format("step {}: gradients of", s + 1),
                by_name(group.buckets(),
                        all_numbers(result.ranks[0], fmt::format("gradients {}", s), group.buckets().size())),
                single.gradients(), bounds)};
        if (!join(messages).empty()) return messages;
        group.step(s);
    }
    return {};
}

using Checks = std::vector<std::vector<std::string> (*)(const TrainingRun&, const CaseResult&)>;

NamedCase training_case(const TrainingRun& run, const Checks& checks)
{
    CaseInput input{"train", {}};
    for (int rank = 0; rank < run.ranks; ++rank) input.ranks.push_back(run.as_json(rank == 0));
    return {fmt::format("{}, p = {}, {}, {} micro-batches", run.name, run.ranks, name_of(run.dtype),
                        run.micro_batches),
            input, [=](const CaseResult& result) {
                std::vector<std::string> messages;
                for (const auto& check : checks)
                    for (const std::string& message : check(run, result)) messages.push_back(message);
                return messages;
            }};
}

std::vector<NamedCase> training_cases(int ranks)
{
    std::vector<NamedCase> cases;
    const auto add = [&](TrainingRun run, const Checks& checks) {
        run.ranks = ranks;
        cases.push_back(training_case(run, checks));
    };
    const Checks single = ranks == 1 ? Checks{check_single, check_bitwise} : Checks{check_bitwise};
    add({.name = "a bucket a module", .micro_batches = ranks == 8 ? 3 : 2, .max_norm = 0.5},
        {check_single, check_bitwise});
    add({.name = "one bucket", .dtype = DType::fp32, .bucket_elements = 100000, .max_norm = 0.0, .steps = 8},
        single);
    add({.name = "some buckets, no overlap",
         .dtype = DType::bf16,
         .micro_batches = ranks == 3 ? 2 : 3,
         .bucket_elements = 1000,
         .overlap = false},
        single);
    add({.name = "loss scaling", .dtype = DType::fp16, .loss_scale = 16777216.0, .steps = 16}, single);
    for (const DType dtype : {DType::fp32, DType::bf16}) {
        TrainingRun run{.name = "one token a part", .dtype = dtype, .shape = {2, 8, 2, 1, 11}};
        run.micro_batches = ranks == 8 ? 1 : 2;
        run.sequences = ranks * run.micro_batches;
        run.steps = 8;
        add(run, {check_bound, check_bitwise});
    }
    return cases;
}

}  // namespace

TEST_CASE("04.5 the whole: 20 steps of a small GPT agree with the single process", "[04.5]")
{
    std::vector<NamedCase> cases;
    for (const int ranks : {2, 3, 4, 8, 1})
        for (NamedCase& one : training_cases(ranks)) cases.push_back(std::move(one));
    run_and_check("hooks", cases, 20.0);
}
