// 08.5 Which elements are dropped: by where they are in the global batch, however it is laid out.
#include "lib/machine/tensor/random.hpp"
#include "tests/08_tensor_parallel/support.hpp"

using namespace tensor_parallel_test;

namespace {

/// A call: rows `first_row` … of a micro-batch of B x T rows that begins with sequence `first_sequence`.
struct Call {
    double probability = 0.3;
    std::string name = "h.1.attn";
    std::int64_t sequences = 2, tokens = 5, hidden = 7;
    std::int64_t first_sequence = 0, first_row = 0;
    std::int64_t rows = 10;  // of x, those behind the micro-batch's end included
    std::int64_t step = 1;
    std::uint64_t seed = 3;
    DType dtype = DType::fp64;
    bool refused = false;

    std::string text() const
    {
        return fmt::format(
            "p = {}, '{}', step {}, seed {}, B = {} x {} tokens from sequence {}, rows {} to {} "
            "of h = {}, {}",
            probability, name, step, seed, sequences, tokens, first_sequence, first_row, first_row + rows - 1,
            hidden, name_of(dtype));
    }
    /// No zero among them, so that a zero is a dropped element.
    std::vector<double> x() const
    {
        std::vector<double> values = random_values(text(), rows * hidden, dtype);
        for (double& value : values)
            if (value == 0.0) value = 1.0;
        return values;
    }
    json input() const
    {
        return {{"probability", probability},
                {"name", name},
                {"sequences", sequences},
                {"tokens", tokens},
                {"first_sequence", first_sequence},
                {"first_row", first_row},
                {"step", step},
                {"seed", seed},
                {"refused", refused},
                {"x", tensor_input({rows, hidden}, dtype, x())}};
    }
    /// Rows that are rows of the micro-batch, not padding.
    std::int64_t real_rows() const
    {
        return std::clamp<std::int64_t>(sequences * tokens - first_row, 0, rows);
    }
    bool drops() const { return probability > 0.0 && step > 0; }
    /// By the header's rule, with sequence and token apart.
    bool keeps(std::int64_t row, std::int64_t column) const
    {
        const std::int64_t sequence = first_sequence + (first_row + row) / tokens;
        const std::int64_t token = (first_row + row) % tokens;
        const RandomStream stream(seed, fmt::format("dropout {} {}", name, step));
        return stream.uniform(static_cast<std::uint64_t>((sequence * tokens + token) * hidden + column)) >=
               probability;
    }
};

std::string place(const Call& call, std::int64_t row, std::int64_t column)
{
    return fmt::format("x[{}, {}] (sequence {} of the global batch, token {})", row, column,
                       call.first_sequence + (call.first_row + row) / call.tokens,
                       (call.first_row + row) % call.tokens);
}

/// How much of what may be dropped is, against p: within 5 standard deviations, sqrt(p (1 − p) / n).
std::string compare_rate(const Call& call, const std::vector<double>& x)
{
    const auto count = static_cast<double>(call.real_rows() * call.hidden);
    const auto end = x.begin() + call.real_rows() * call.hidden;
    const double rate = static_cast<double>(std::count(x.begin(), end, 0.0)) / count;
    const double p = call.probability;
    if (std::abs(rate - p) <= 5.0 * std::sqrt(p * (1.0 - p) / count)) return "";
    return fmt::format("{:.3g} of the elements are dropped, expected about {:.3g}", rate, p);
}

/// Dropped elements are 0. The others are x / (1 − p) but for three roundings: of 1 − p or its inverse to
/// what is computed in, of the product, and to the dtype.
std::vector<std::string> check_call(const Call& call, const RankResult& result)
{
    const json got = result.outputs.at("x"), input = call.input().at("x");
    const std::string form = compare("x", got, input, {0.0, INFINITY});
    if (!form.empty()) return {form};
    const std::vector<double> x = values_of(got), before = values_of(input);
    const auto at = [&](std::int64_t row, std::int64_t column) {
        return static_cast<std::size_t>(row * call.hidden + column);
    };
    if (call.drops() && call.real_rows() > 0)
        if (const std::string rate = compare_rate(call, x); !rate.empty()) return {rate};
    const double relative = 1.1 * (2.0 * roundoff(sum_dtype(call.dtype)) + roundoff(call.dtype));
    for (std::int64_t row = 0; row < call.rows; ++row)
        for (std::int64_t column = 0; column < call.hidden; ++column) {
            const double value = x[at(row, column)], old = before[at(row, column)];
            const std::string where = place(call, row, column);
            if (!call.drops() || row >= call.real_rows()) {
                if (value != old)
                    return {fmt::format(
                        "{} is {:.9g}, expected {:.9g} as before: {}", where, value, old,
                        call.drops() ? "it lies behind the micro-batch's last row" : "nothing is dropped")};
                continue;
            }
            const bool keeps = call.keeps(row, column);
            if ((value != 0.0) != keeps)
                return {fmt::format("{} is {}, expected it to be {}: its place in the global batch decides",
                                    where, keeps ? "dropped" : "kept", keeps ? "kept" : "dropped")};
            const std::string scaled =
                compare_number(where, value, keeps ? old / (1.0 - call.probability) : 0.0, {relative, 0.0});
            if (!scaled.empty()) return {scaled};
        }
    return {compare_left(result, 0)};
}

NamedCase case_of(const Call& call)
{
    return {call.text(), one_rank("dropout", call.input()),
            [=](const RankResult& result) { return check_call(call, result); }};
}

/// Every dtype, probabilities, padding, and no row at all.
std::vector<Call> calls()
{
    std::vector<Call> all;
    for (const DType dtype : all_dtypes) {
        all.push_back({.rows = 10, .dtype = dtype});
        all.push_back(
            {.probability = 0.75, .name = "embedding", .first_row = 8, .rows = 4, .step = 2, .dtype = dtype});
    }
    all.push_back({.probability = 0.1, .sequences = 10, .tokens = 20, .hidden = 64, .rows = 200});
    all.push_back({.probability = 0.9, .sequences = 10, .tokens = 20, .hidden = 64, .rows = 200});
    all.push_back({.first_row = 12, .rows = 4});  // a rank that has padding only
    all.push_back({.first_sequence = 6, .first_row = 3, .rows = 5});
    all.push_back({.tokens = 1, .first_sequence = 1, .rows = 2});
    // Number (10^8 · 5 + …) 7: more than 32 bits hold.
    all.push_back({.first_sequence = 1'000'000'000, .rows = 10});
    all.push_back({.rows = 10, .seed = 4});
    all.push_back({.rows = 10, .step = 1'000'000});
    all.push_back({.rows = 10, .step = 0});  // not training
    all.push_back({.probability = 0.0, .rows = 10});
    return all;
}

/// The mask of a whole batch of ones, 6 sequences of 5 tokens, from calls on its parts.
using Mask = std::vector<bool>;

struct Part {
    Call call;
    std::int64_t first;  // its first element in the whole
};

/// In one call; in micro-batches of two sequences; in the rows of 4 ranks, 8 each.
std::vector<std::vector<Part>> layouts(const Call& whole)
{
    std::vector<std::vector<Part>> all(3);
    all[0].push_back({whole, 0});
    for (std::int64_t m = 0; m < 3; ++m) {
        Call part = whole;
        part.sequences = 2;
        part.first_sequence = 2 * m;
        part.rows = 10;
        all[1].push_back({part, 10 * m * whole.hidden});
    }
    for (std::int64_t rank = 0; rank < 4; ++rank) {
        Call part = whole;
        part.first_row = 8 * rank;
        part.rows = 8;
        all[2].push_back({part, 8 * rank * whole.hidden});
    }
    return all;
}

Mask mask_of(const std::vector<Part>& parts, std::span<const CaseResult> results, std::size_t elements)
{
    Mask mask(elements, false);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::vector<double> x = values_of(results[i].ranks[0].outputs.at("x"));
        for (std::size_t j = 0; j < x.size(); ++j)
            if (static_cast<std::size_t>(parts[i].first) + j < elements)
                mask[static_cast<std::size_t>(parts[i].first) + j] = x[j] == 0.0;
    }
    return mask;
}

std::string compare_masks(const std::string& name, const Mask& a, const Mask& b, bool same)
{
    if ((a == b) == same) return "";
    return name + (same ? ": other elements are dropped than of the whole batch in one call"
                        : ": the same elements are dropped");
}

/// What is wrong with masks of several layouts, which must be the same, and of other places, steps and seeds,
/// which must not. Empty: nothing.
std::string layouts_problem()
{
    Call whole{.probability = 0.5, .sequences = 6, .tokens = 5, .hidden = 9, .rows = 30};
    std::vector<std::vector<Part>> all = layouts(whole);
    for (const char* change : {"name", "step", "seed", "sequence"}) {
        Call other = whole;
        if (change == std::string("name")) other.name = "h.1.mlp";
        if (change == std::string("step")) other.step = 2;
        if (change == std::string("seed")) other.seed = 4;
        if (change == std::string("sequence")) other.first_sequence = 6;
        all.push_back({{other, 0}});
    }
    std::vector<CaseInput> inputs;
    for (const std::vector<Part>& parts : all)
        for (const Part& part : parts) inputs.push_back(one_rank("dropout", part.call.input()));
    const std::vector<CaseResult> results = run_cases("dropout", inputs);
    for (const CaseResult& result : results)
        if (!result.failure.empty()) return result.failure;
    std::vector<Mask> masks;
    for (std::size_t first = 0; const std::vector<Part>& parts : all) {
        masks.push_back(mask_of(parts, std::span(results).subspan(first), 270));
        first += parts.size();
    }
    return join({compare_masks("in three micro-batches", masks[1], masks[0], true),
                 compare_masks("in the rows of four ranks", masks[2], masks[0], true),
                 compare_masks("at two places of the model", masks[3], masks[0], false),
                 compare_masks("in two steps", masks[4], masks[0], false),
                 compare_masks("with two seeds", masks[5], masks[0], false),
                 compare_masks("in other sequences", masks[6], masks[0], false)});
}

NamedCase refused_case(double probability, const std::string& needed)
{
    Call call;
    call.probability = probability;
    call.refused = true;
    return {call.text(), one_rank("dropout", call.input()), [=](const RankResult& result) {
                const std::string refusal = result.outputs.value("refusal", "accepted");
                return std::vector{refusal.find(needed) != std::string::npos
                                       ? std::string()
                                       : fmt::format("{}, expected an Error that names {}", refusal, needed)};
            }};
}

}  // namespace

TEST_CASE("08.5 apply_dropout: which elements are dropped, and what becomes of the others", "[08.5]")
{
    std::vector<NamedCase> cases;
    for (const Call& call : calls()) cases.push_back(case_of(call));
    for (const double probability : {1.0, 1.5, -0.1})
        cases.push_back(refused_case(probability, fmt::format("--dropout is {}", probability)));
    run_and_check("dropout", cases);
}

TEST_CASE("08.5 apply_dropout: the same elements in every layout, others elsewhere", "[08.5]")
{
    const std::string problem = layouts_problem();
    if (!problem.empty()) FAIL(problem);
    SUCCEED();
}
