#include "lessons/02_training_step/clipping.hpp"
#include "lessons/04_data_parallel/optimizer.hpp"
#include "tests/09_3d/grid_gradient.hpp"
#include "tests/09_3d/pieces.hpp"

using namespace grid_test;

namespace {

constexpr double learning_rate = 3e-2;
constexpr double max_norm = 0.75;
constexpr std::int64_t steps = 3;

/// A single process adds the squares of each parameter, of at most 4 h² = 576 elements, then these terms, at
/// most 64; the grid adds parts of the parameters and then the parts. All squares are positive, so each sum
/// of n numbers is within n u of the true one relatively, u = 1.1e-16, and its root within half of that: the
/// two differ by at most 640 u = 7.1e-14.
constexpr double norm_tolerance = 1e-13;

std::uint64_t gradient_seed()
{
    return static_cast<std::uint64_t>(std::abs(random_values("grid gradients", 1, DType::fp64, 1e9)[0]));
}

/// The parts that tensor-parallel ranks count of each parameter, in the order of the ranks.
using Slices = std::map<std::string, std::vector<Slice>>;

Slices counted_slices(const GridRun& run, const CaseResult& result)
{
    Slices slices;
    for (int stage = 0; stage < run.pp; ++stage)
        for (int t = 0; t < run.tp; ++t) {
            const auto rank = static_cast<std::size_t>(stage * run.dp * run.tp + t);
            for (const auto& [key, numbers] : result.ranks[rank].outputs.items()) {
                if (!key.starts_with("slice ")) continue;
                const std::string name = key.substr(6);
                const Slice slice = slice_of(numbers);
                const bool again = name == "wte.weight" && stage > 0;
                if (!again && (t == 0 || slice.shape != slice.global)) slices[name].push_back(slice);
            }
        }
    return slices;
}

/// Steps on one device, with lesson 02's norm, or its squares added by parts.
struct Trained {
    pipeline_test::Gpt gpt;
    training::OptimizerStates states;
    std::vector<double> norms;

    Trained(const GridRun& run, const Slices& slices)
        : gpt(run.shape(), run.dtype), states(training::make_optimizer_states(gpt.flat.values()))
    {
        const training::AdamW adamw{learning_rate, 0.9, 0.95, 1e-8, 0.1};
        for (std::int64_t step = 0; step < steps; ++step) {
            for (const FlatEntry& entry : gpt.flat.layout().entries)
                from_doubles(grid_gradient(*entry.parameter, gradient_seed(), step),
                             entry.parameter->gradient);
            const training::UpdateResult result =
                run.tp == 1 ? training::update_parameters(adamw, max_norm, nullptr, gpt.flat, states)
                            : update_by_parts(adamw, slices);
            norms.push_back(result.gradient_norm);
        }
    }

  private:
    training::UpdateResult update_by_parts(const training::AdamW& adamw, const Slices& slices)
    {
        const FlatLayout& layout = gpt.flat.layout();
        std::vector<double> terms{0.0};  // no overflow
        for (const FlatEntry& entry : layout.entries)
            for (const Slice& slice : slices.at(entry.parameter->name)) {
                const std::vector<double> own = cut(slice, to_doubles(entry.parameter->gradient));
                terms.push_back(training::sum_of_squares(buffer_of(std::span(own))));
            }
        const data_parallel::Bucket whole{0, gpt.modules.size(), layout.entries, layout.elements,
                                          layout.padded};
        std::vector<data_parallel::OptimizerPart> parts;
        parts.push_back({&whole,
                         {0, layout.padded},
                         gpt.flat.values().view(0, {layout.padded}),
                         gpt.flat.gradients().view(0, {layout.padded}),
                         &states});
        return data_parallel::update_parts(adamw, max_norm, nullptr, terms, parts);
    }
};

std::string cause_of(const GridRun& run, double got, double expected)
{
    if (std::abs(got / expected - 1.0) < 1e-12)
        return "the last bits: a term for each rank's part of each parameter, added in the model's order";
    if (got < expected)
        return "smaller than the model's: which elements does no rank count, or of which ranks are the terms "
               "not added?";
    return run.tp > 1 ? "larger than the model's: which elements do two ranks count?"
                      : "larger than the model's: do both ends count the tied embedding?";
}

std::vector<std::string> compare_rank(const GridRun& run, const Trained& trained, const RankResult& result)
{
    std::vector<std::string> messages;
    const auto norms = result.outputs.at("norms").get<std::vector<double>>();
    // With whole gradients on every rank the terms are known to the bit, and added in the model's order.
    const double tolerance = run.dp == 1 ? 0.0 : norm_tolerance;
    for (std::size_t i = 0; i < trained.norms.size(); ++i) {
        const std::string message = compare_number(fmt::format("step {}: the norm", i + 1), norms.at(i),
                                                   trained.norms[i], {tolerance, 0.0});
        if (message.empty()) continue;
        messages.push_back(message + "; " + cause_of(run, norms[i], trained.norms[i]));
        return messages;
    }
    // The factor of clipping is as exact as the norm. m, v and an update, at most 1.1 learning rates, inherit
    // that and a dozen roundings a step: three steps change no value by more than 3 · 3.3e-2 · 1e-13 more,
    // and the largest of a parameter is 2e-2 or more.
    for (std::string& message :
         compare_held("value", result.outputs, numbers_of(trained.gpt.flat, &Parameter::value), 1e-12))
        messages.push_back(std::move(message));
    const auto begin = result.measured.at("begin").get<std::uint64_t>();
    const auto current = result.measured.at("current").get<std::uint64_t>();
    if (current != begin)
        messages.push_back(
            fmt::format("{} bytes are in use after the steps, {} were before", current, begin));
    return messages;
}

/// Every rank of the grid must come to the same bits.
std::vector<std::string> compare_ranks(const CaseResult& result)
{
    for (std::size_t rank = 1; rank < result.ranks.size(); ++rank) {
        const json& first = result.ranks[0].outputs.at("norms");
        const json& other = result.ranks[rank].outputs.at("norms");
        if (first != other)
            return {
                fmt::format("the norms are {} on rank 0 and {} on rank {}, expected the same bits on all "
                            "ranks",
                            first.dump(), other.dump(), rank)};
    }
    return {};
}

NamedCase norm_case(const GridRun& run)
{
    CaseInput input;
    input.operation = "norm";
    json inputs = run.inputs();
    inputs.update({{"learning_rate", learning_rate},
                   {"max_norm", max_norm},
                   {"steps", steps},
                   {"seed", gradient_seed()}});
    input.ranks.assign(static_cast<std::size_t>(run.ranks()), inputs);
    return {run.name() + fmt::format(", {} chunks", run.blocks.size()), input,
            [run](const CaseResult& result) {
                const Trained trained(run, counted_slices(run, result));
                std::vector<std::string> messages;
                for (int rank = 0; rank < run.ranks(); ++rank)
                    for (const std::string& message :
                         compare_rank(run, trained, result.ranks[static_cast<std::size_t>(rank)]))
                        messages.push_back(on_rank(rank, message));
                for (const auto& more : {compare_ranks(result), compare_copies(run, "value", result)})
                    messages.insert(messages.end(), more.begin(), more.end());
                return messages;
            },
            "the norm's terms are summed over everyone: all ranks of the grid must take part"};
}

GridRun grid_run(int pp, int dp, int tp, int zero, int chunks = 1)
{
    GridRun run{pp, dp, tp, zero};
    run.blocks = {1, 2, 1, 1};
    if (pp == 1) run.blocks = {5};
    if (pp == 2 && chunks == 1) run.blocks = {3, 2};
    if (pp == 3) run.blocks = {1, 2, 2};
    return run;
}

}  // namespace

TEST_CASE("09.2 span_grid: without replicas the norm is known to the bit, whatever the stages", "[09.2]")
{
    run_and_check(
        "norm",
        {norm_case(grid_run(2, 1, 1, 0)), norm_case(grid_run(2, 1, 1, 0, 2)), norm_case(grid_run(3, 1, 1, 0)),
         norm_case(grid_run(4, 1, 1, 0)), norm_case(grid_run(1, 1, 2, 0)), norm_case(grid_run(1, 1, 4, 0)),
         norm_case(grid_run(2, 1, 2, 0, 2)), norm_case(grid_run(2, 1, 3, 0)),
         norm_case(grid_run(2, 1, 4, 1))},
        20.0);
}

TEST_CASE("09.2 span_grid: the norm of the whole model on every rank of the grid", "[09.2]")
{
    run_and_check(
        "norm",
        {norm_case(grid_run(1, 2, 3, 2)), norm_case(grid_run(2, 2, 1, 1)), norm_case(grid_run(3, 2, 1, 3)),
         norm_case(grid_run(2, 2, 2, 3)), norm_case(grid_run(3, 1, 4, 0)), norm_case(grid_run(2, 3, 2, 2))},
        20.0);
}
