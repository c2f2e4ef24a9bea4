#include "lib/tools/agreement/ledger.hpp"

#include <fmt/format.h>

#include "lessons/10_counting/flops.hpp"
#include "lessons/10_counting/states.hpp"
#include "lessons/10_counting/time.hpp"
#include "lessons/10_counting/traffic.hpp"
#include "lib/tools/agreement/activations.hpp"
#include "lib/tools/trace/collect.hpp"

namespace shardlings::agreement {

namespace {

// What lesson 10 leaves out of its formulas: parts of what is counted.
constexpr double activations_off = 0.01;
constexpr double seconds_off = 0.05;
/// The part of a step from which on devices that compute, or wait for others that do, decide how long it
/// takes. Where links decide, a step depends on which rank begins a collective first.
constexpr double mostly = 0.75;

}  // namespace

counting::Job job_of(const TrainOptions& options)
{
    counting::Job job;
    job.shape = options.shape;
    job.layout = options.layout;
    job.dtype = options.dtype;
    job.batch = options.batch;
    job.micro_batches = options.micro_batches;
    job.recompute = options.recompute             ? counting::Recompute::full
                    : options.recompute_attention ? counting::Recompute::selective
                                                  : counting::Recompute::none;
    return job;
}

counting::Place place_of(const Trainer& trainer)
{
    return {trainer.groups().pipeline.rank(), trainer.groups().tensor.rank()};
}

double predicted_seconds(const Topology& topology, const TrainOptions& options)
{
    return counting::step_time(job_of(options), topology, true).total();
}

std::vector<Entry> ledger_of(const Device& device, const Trainer& trainer, const TrainOptions& options,
                             double step_seconds)
{
    const counting::Job job = job_of(options);
    const counting::Place place = place_of(trainer);
    const counting::StateBytes states = counting::state_bytes(job, place);
    const auto counted = [&](Category category) {
        return static_cast<double>(device.memory().current_of(category));
    };
    const auto sent = [](const Comm& comm) { return static_cast<double>(comm.traffic().total.bytes); };
    const auto of_all_steps = [&](std::int64_t bytes) {
        return static_cast<double>(options.steps) * static_cast<double>(bytes);
    };
    const grid::Groups& groups = trainer.groups();
    const auto peak = static_cast<double>(device.memory().peak_of(Category::activations));
    std::vector<Entry> entries{
        {"bytes sent in the tensor-parallel group", of_all_steps(counting::tensor_parallel_bytes(job, place)),
         sent(groups.tensor)},
        {"bytes sent in the pipeline", of_all_steps(counting::pipeline_bytes(job, place)),
         sent(groups.pipeline)},
        {"FLOPs of matrix products",
         static_cast<double>(options.steps) * counting::device_gemm_flops(job, place), device.flops()}};
    // Lesson 10 counts a bucket for every module, fetched by all-gather and reduced once a step, and no
    // masks.
    const bool a_bucket_each = options.bucket_bytes == 1;
    const bool once_a_step = !options.zero.accumulate_in_shards || job.micro_batches == 1;
    const bool by_all_gather = job.layout.zero < 3 || options.zero.fetch == zero::Fetch::all_gather;
    if (a_bucket_each) {
        entries.push_back(
            {"bytes of parameters", static_cast<double>(states.parameters), counted(Category::parameters)});
        entries.push_back(
            {"bytes of gradients", static_cast<double>(states.gradients), counted(Category::gradients)});
        entries.push_back({"bytes of optimizer states", static_cast<double>(states.optimizer_states),
                           counted(Category::optimizer_states)});
    }
    if (a_bucket_each && once_a_step && by_all_gather)
        entries.push_back({"bytes sent in the data-parallel group",
                           of_all_steps(counting::data_parallel_bytes(job, place)), sent(groups.data.data)});
    if (options.dropout == 0.0) {
        const auto undecided = counting::undecided_activations(job, place, device.topology());
        entries.push_back({"bytes of activations at most",
                           static_cast<double>(counting::peak_activations(job, place, device.topology())),
                           peak, std::max(activations_off * peak, static_cast<double>(undecided))});
    }
    const bool waits_for_reductions = options.zero.gradient_buckets == 1;
    const counting::StepTime time = counting::step_time(job, device.topology(), true);
    const bool computes = time.compute + time.bubble >= mostly * time.total();
    if (a_bucket_each && once_a_step && by_all_gather && waits_for_reductions && options.overlap &&
        computes && std::isfinite(step_seconds))
        entries.push_back({"seconds of a step", time.total(), step_seconds, seconds_off * step_seconds});
    return entries;
}

std::vector<std::string> disagreeing(Comm& comm, const std::vector<Entry>& own)
{
    std::string text;
    for (const Entry& entry : own)
        if (!entry.agree())
            text += fmt::format("rank {}: {} {}, predicted {}\n", comm.rank(), entry.counted, entry.what,
                                entry.predicted);
    std::vector<std::string> all;
    for (const auto& bytes :
         gather_bytes(comm, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}))
        if (!bytes.empty()) all.emplace_back(bytes.begin(), bytes.end());
    return all;
}

}  // namespace shardlings::agreement
