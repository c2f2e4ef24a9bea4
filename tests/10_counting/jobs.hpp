// Jobs on the judging side: as inputs, as text, drawn at random, and what is said of their devices.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "lessons/10_counting/parameters.hpp"
#include "lib/machine/base/counted.hpp"
#include "tests/lib/run_and_check.hpp"

namespace counting_test {

using namespace grade;
using counting::Job;
using counting::Place;
using counting::Recompute;

inline json inputs_of(const ModelShape& shape)
{
    return {{"layers", shape.layers},
            {"hidden", shape.hidden},
            {"heads", shape.heads},
            {"sequence", shape.sequence},
            {"vocabulary", shape.vocabulary}};
}

inline json inputs_of(const Job& job)
{
    json inputs = inputs_of(job.shape);
    inputs.update({{"pp", job.layout.pp},
                   {"dp", job.layout.dp},
                   {"tp", job.layout.tp},
                   {"zero", job.layout.zero},
                   {"schedule", job.layout.schedule},
                   {"virtual_stages", job.layout.virtual_stages},
                   {"blocks", job.layout.blocks},
                   {"sequence_parallel", job.layout.sequence_parallel},
                   {"dtype", name_of(job.dtype)},
                   {"batch", job.batch},
                   {"micro_batches", job.micro_batches},
                   {"recompute", static_cast<int>(job.recompute)}});
    return inputs;
}

/// In the words of `shardlings train`'s options.
inline std::string describe(const Job& job)
{
    const ModelShape& shape = job.shape;
    const Layout& layout = job.layout;
    std::string text =
        fmt::format("L = {}, h = {}, a = {}, T = {}, V = {}, {}, PP {} x DP {} x TP {}, ZeRO {}",
                    shape.layers, shape.hidden, shape.heads, shape.sequence, shape.vocabulary,
                    name_of(job.dtype), layout.pp, layout.dp, layout.tp, layout.zero);
    if (layout.pp > 1) text += ", " + layout.schedule;
    if (layout.virtual_stages > 1) text += fmt::format(" with {} chunks a stage", layout.virtual_stages);
    if (!layout.blocks.empty()) text += ", blocks " + json(layout.blocks).dump();
    if (layout.sequence_parallel) text += ", sequence-parallel";
    text += fmt::format(", {} in {} micro-batch{}", counted(job.batch, "sequence"), job.micro_batches,
                        job.micro_batches == 1 ? "" : "es");
    if (job.recompute == Recompute::selective) text += ", attention recomputed";
    if (job.recompute == Recompute::full) text += ", recomputed";
    return text;
}

/// run_and_check, the simplest of the cases first: those of which there is least to say.
inline void run_simplest_first(const std::string& file, std::vector<NamedCase> cases)
{
    std::ranges::stable_sort(cases, {}, [](const NamedCase& one) { return one.name.size(); });
    run_and_check(file, cases);
}

/// What a number may have been multiplied or divided by: the numbers of the job that are as large as that.
inline std::string likely_factor(double got, double expected, const Job& job)
{
    const Layout& layout = job.layout;
    const std::vector<std::pair<std::string_view, std::int64_t>> factors{
        {"T_p", layout.tp},       {"D_p", layout.dp},       {"P", layout.pp},
        {"M", job.micro_batches}, {"b", job.micro_batch()}, {"V_c", layout.virtual_stages},
        {"L", job.shape.layers},  {"a", job.shape.heads},   {"T", job.shape.sequence},
    };
    std::vector<std::string> times, over;
    for (const auto& [letter, value] : factors) {
        if (value < 2) continue;
        const auto number = static_cast<double>(value);
        if (got == expected * number) times.push_back(fmt::format("{} = {}", letter, value));
        if (got * number == expected) over.push_back(fmt::format("{} = {}", letter, value));
    }
    if (!times.empty()) return fmt::format(": too large by {}?", fmt::join(times, ", or by "));
    return over.empty() ? "" : fmt::format(": too small by {}?", fmt::join(over, ", or by "));
}

/// compare_number, with the factor that may be the cause.
inline std::string compare_with_cause(const std::string& name, double got, double expected,
                                      Tolerance tolerance, const Job& job)
{
    const std::string message = compare_number(name, got, expected, tolerance);
    return message.empty() ? "" : message + likely_factor(got, expected, job);
}

/// Whole numbers that the test's seed and a name decide.
class Dice {
  public:
    explicit Dice(const std::string& name) : values_(random_values(name, 4096, DType::fp64, 1e6)) {}
    /// low … high.
    std::int64_t roll(std::int64_t low, std::int64_t high)
    {
        const double value = std::abs(values_[next_++ % values_.size()]);
        return low + static_cast<std::int64_t>(value) % (high - low + 1);
    }
    bool flip() { return roll(0, 1) == 1; }

  private:
    std::vector<double> values_;
    std::size_t next_ = 0;
};

/// A layout that may be run, of degrees that rarely divide anything.
inline Job random_job(Dice& dice)
{
    static const std::vector<std::string> schedules{"naive", "gpipe", "1f1b"};
    Job job;
    Layout& layout = job.layout;
    layout.pp = static_cast<int>(dice.roll(1, 4));
    layout.dp = static_cast<int>(dice.roll(1, 5));
    layout.tp = static_cast<int>(dice.roll(1, 4));
    layout.zero = static_cast<int>(dice.roll(0, 3));
    layout.schedule = schedules[static_cast<std::size_t>(dice.roll(0, 2))];
    if (layout.pp > 1 && dice.flip()) {
        layout.schedule = "interleaved";
        layout.virtual_stages = static_cast<int>(dice.roll(2, 3));
    }
    layout.sequence_parallel = layout.tp > 1 && dice.flip();
    const std::int64_t chunks = layout.pp * layout.virtual_stages;
    job.shape.heads = layout.tp * dice.roll(1, 3);
    job.shape.hidden = job.shape.heads * dice.roll(1, 9);
    job.shape.layers = chunks + dice.roll(0, 6);
    job.shape.sequence = dice.roll(1, 40);
    job.shape.vocabulary = layout.tp + dice.roll(0, 300);
    if (layout.pp > 1 && dice.flip()) {
        layout.blocks.assign(static_cast<std::size_t>(chunks), 1);
        for (std::int64_t i = chunks; i < job.shape.layers; ++i)
            ++layout.blocks[static_cast<std::size_t>(dice.roll(0, chunks - 1))];
    }
    const std::vector<DType> dtypes{DType::fp64, DType::fp32, DType::bf16, DType::fp16};
    job.dtype = dtypes[static_cast<std::size_t>(dice.roll(0, 3))];
    job.micro_batches = dice.roll(1, 4) * (layout.virtual_stages > 1 ? layout.pp : 1);
    job.batch = layout.dp * job.micro_batches * dice.roll(1, 3);
    job.recompute = static_cast<Recompute>(dice.roll(0, 2));
    return job;
}

/// `count` random jobs.
inline std::vector<Job> random_jobs(const std::string& name, int count)
{
    Dice dice(name);
    std::vector<Job> jobs;
    for (int i = 0; i < count; ++i) jobs.push_back(random_job(dice));
    return jobs;
}

/// The numbers of a device.
using Expected = std::function<std::vector<double>(const Job&, Place)>;

/// Empty when they are the same; else the first that differs. `names`: of each number, or one for all.
inline std::string compare_numbers(const std::vector<std::string>& names, const std::vector<double>& got,
                                   const std::vector<double>& expected, const Job& job)
{
    if (got == expected) return "";
    if (got.size() != expected.size())
        return fmt::format("{} numbers, {}, expected {}: {}", got.size(), json(got).dump(), expected.size(),
                           json(expected).dump());
    for (std::size_t i = 0; i < got.size(); ++i)
        if (got[i] != expected[i])
            return fmt::format("{}{}: {:.0f}, expected {:.0f}{}", names[names.size() == 1 ? 0 : i],
                               names.size() == 1 && got.size() > 1 ? fmt::format(" {}", i) : "", got[i],
                               expected[i], likely_factor(got[i], expected[i], job));
    return "";
}

/// The operation's outputs of every device of the grid against what is expected there.
inline NamedCase place_case(const std::string& operation, const Job& job, std::vector<std::string> names,
                            Expected expected)
{
    return {
        describe(job), one_rank(operation, inputs_of(job)), [=](const RankResult& result) {
            std::vector<std::string> messages;
            for (int stage = 0; stage < job.layout.pp; ++stage)
                for (int rank = 0; rank < job.layout.tp; ++rank) {
                    const auto got =
                        result.outputs.at(fmt::format("{} {}", stage, rank)).get<std::vector<double>>();
                    const std::string message =
                        compare_numbers(names, got, expected(job, {stage, rank}), job);
                    if (!message.empty())
                        messages.push_back(fmt::format("stage {}, tensor rank {}: {}", stage, rank, message));
                }
            return messages;
        }};
}

/// A job on tp real devices whose "predicted" must be what `real` finds in the measurements.
inline NamedCase real_case(const std::string& operation, const Job& job, const std::string& what,
                           std::function<double(const RankResult&)> real)
{
    CaseInput input{operation, std::vector<json>(static_cast<std::size_t>(job.layout.tp), inputs_of(job))};
    return {describe(job), input, [=](const CaseResult& result) {
                std::vector<std::string> messages;
                for (int rank = 0; rank < job.layout.tp; ++rank) {
                    const RankResult& one = result.ranks[static_cast<std::size_t>(rank)];
                    const auto predicted = one.outputs.at("predicted").get<double>();
                    const double counted = real(one);
                    if (predicted != counted)
                        messages.push_back(
                            on_rank(rank, fmt::format("predicted {:.0f} {}, the device counts {:.0f}",
                                                      predicted, what, counted) +
                                              likely_factor(predicted, counted, job)));
                }
                return messages;
            }};
}

}  // namespace counting_test
