#include "lib/tools/agreement/verify.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "lib/tools/agreement/ledger.hpp"
#include "lib/tools/data/batch.hpp"

namespace shardlings::agreement {

namespace {

/// A loss scale at which small models do not overflow: then no step is skipped.
constexpr double fp16_scale = 1024.0;

/// What decides about the observations of a run that is compared with.
std::string key_of(const TrainOptions& o)
{
    return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}", o.layout.pp, o.layout.virtual_stages,
                       fmt::join(o.layout.blocks, ","), o.layout.dp, o.layout.tp, o.layout.sequence_parallel,
                       name_of(o.dtype), o.batch, o.micro_batches, o.shape.layers, o.shape.hidden,
                       o.shape.heads);
}

}  // namespace

bool Verdict::kept() const
{
    return ledger.empty() && std::ranges::all_of(steps, &StepVerdict::kept);
}

bool promises_bits(const TrainOptions& options)
{
    return !(options.layout.zero >= 2 && options.zero.accumulate_in_shards && options.micro_batches > 1);
}

TrainOptions reference_of(const TrainOptions& options)
{
    TrainOptions reference = options;
    reference.layout.zero = 0;
    if (options.layout.dp == 1) {
        reference.layout.pp = 1;
        reference.layout.virtual_stages = 1;
        reference.layout.schedule = Layout{}.schedule;
        reference.layout.blocks.clear();
    }
    reference.recompute = false;
    reference.recompute_attention = false;
    reference.zero = {};
    return reference;
}

TrainOptions single_process_of(const TrainOptions& options)
{
    TrainOptions single = reference_of(options);
    single.layout = Layout{};
    return single;
}

Verifier::Run Verifier::observe(const TrainOptions& options)
{
    DeviceOptions device_options;
    device_options.rank = session_.rank();
    device_options.topology = options.topology;
    if (device_options.topology.devices() < session_.size())
        device_options.topology.devices_per_node = session_.size();
    Device device(device_options);
    const Comm world = Comm::world(device);
    const bool takes_part = world.rank() < options.layout.world_size();
    Comm comm = world.split(takes_part ? 0 : 1, world.rank());
    Run run{key_of(options), {}};
    if (!takes_part) return run;
    Trainer trainer(comm, options);
    trainer.loss_scale().scale = fp16_scale;
    for (std::int64_t step = 1; step <= options.steps; ++step) {
        const Batch batch = make_batch(text_, options.seed, step - 1, options.batch, options.shape.sequence);
        run.steps.push_back(observe_step(comm, trainer, options, batch.view(), step));
    }
    for (const Observation& step : run.steps)
        run.step_seconds += step.seconds / static_cast<double>(run.steps.size());
    run.predicted_seconds = predicted_seconds(device.topology(), options);
    const double seconds = comm.rank() == 0 ? run.step_seconds : std::nan("");
    run.ledger = disagreeing(comm, ledger_of(device, trainer, options, seconds));
    return run;
}

const std::vector<Observation>& Verifier::known(Run& run, const TrainOptions& options)
{
    const std::string key = key_of(options);
    if (run.key != key) run = observe(options);
    return run.steps;
}

Verdict Verifier::verify(const TrainOptions& options)
{
    const TrainOptions single_options = single_process_of(options);
    TrainOptions exact_options = single_options;
    exact_options.dtype = DType::fp64;
    const bool is_exact = options.dtype == DType::fp64;
    const std::vector<Observation>& single = known(single_, single_options);
    const std::vector<Observation>& exact = is_exact ? single : known(exact_, exact_options);
    const TrainOptions reference_options = reference_of(options);
    const bool is_single = key_of(reference_options) == key_of(single_options);
    const bool bits = promises_bits(options);
    const std::vector<Observation>& reference =
        bits && !is_single ? known(reference_, reference_options) : single;

    const auto begin = std::chrono::steady_clock::now();
    const Run run = observe(options);
    const std::vector<Observation>& got = run.steps;
    Verdict verdict;
    verdict.ledger = run.ledger;
    verdict.step_seconds = run.step_seconds;
    verdict.predicted_seconds = run.predicted_seconds;
    verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (session_.rank() > 0) return verdict;
    Judge judge(options);
    for (std::size_t i = 0; i < got.size(); ++i) {
        StepVerdict one{static_cast<std::int64_t>(i) + 1, single[i].report.loss, got[i].report.loss, {}, {}};
        one.with_single = judge.compare(exact[i], single[i], got[i]);
        if (bits)
            one.with_reference =
                compare_bitwise(reference[i], got[i], judge.places(), options.layout.dp == 1);
        one.disagreements =
            std::accumulate(got[i].disagreements.begin(), got[i].disagreements.end(), std::int64_t{0});
        verdict.steps.push_back(std::move(one));
    }
    return verdict;
}

}  // namespace shardlings::agreement
