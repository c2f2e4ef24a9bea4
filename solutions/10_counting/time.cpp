#include "lessons/10_counting/time.hpp"

#include <algorithm>

#include "lessons/06_pipeline/stages.hpp"
#include "lessons/10_counting/flops.hpp"
#include "lessons/10_counting/parameters.hpp"
#include "lessons/10_counting/schedule.hpp"

using namespace counting;

namespace {

/// The passes of every chunk, and which stage works longest.
struct Passes {
    StageSeconds seconds;
    std::vector<PassSeconds> work;  // of each stage, of all micro-batches
    std::size_t slowest = 0;
};

Passes passes_of(const Job& job, const Topology& topology)
{
    Passes passes;
    // BEGIN SOLUTION 10.7 passes_of
    for (int stage = 0; stage < job.layout.pp; ++stage) {
        std::vector<ChunkSeconds> chunks;
        PassSeconds work;
        for (int chunk = 0; chunk < job.layout.virtual_stages; ++chunk) {
            const PassSeconds forward = forward_seconds(job, topology, stage, chunk);
            const PassSeconds backward = backward_seconds(job, topology, stage, chunk);
            chunks.push_back({forward.total(), backward.total()});
            for (const PassSeconds& pass : {forward, backward})
                work.add(pass, static_cast<double>(job.micro_batches));
        }
        passes.seconds.push_back(chunks);
        passes.work.push_back(work);
        if (work.total() > passes.work[passes.slowest].total()) passes.slowest = passes.work.size() - 1;
    }
    // END SOLUTION
    return passes;
}

/// How much later than the passes the last of the first stage's reductions ends, where they go on beside
/// them.
double exposed_reductions(const Job& job, const Topology& topology)
{
    double waiting = 0.0;
    // BEGIN SOLUTION 10.7 exposed_reductions
    const ModuleSeconds modules = backward_of_modules(job, topology);
    const std::vector<std::int64_t> buckets = bucket_elements(job, {0, 0});
    const std::size_t first_block = job.layout.pp > 1 ? 2 : 1;
    for (std::size_t b = buckets.size(); b-- > 0;) {
        const double reduction =
            (job.layout.zero == 0 ? 2.0 : 1.0) * data_ring_seconds(job, topology, buckets[b]);
        double meanwhile = b > first_block ? modules.block.total() : 0.0;
        if (b == first_block) meanwhile = modules.embedding.total();
        waiting = std::max(0.0, waiting + reduction - meanwhile);
    }
    // END SOLUTION
    return waiting;
}

}  // namespace

double counting::bubble_fraction(const Job& job)
{
    double fraction = 0.0;
    // BEGIN SOLUTION 10.7 bubble_fraction
    const double others = job.layout.pp - 1.0;
    const double turns = job.layout.schedule == "naive"
                             ? 1.0
                             : static_cast<double>(job.layout.virtual_stages * job.micro_batches);
    fraction = others / (turns + others);
    // END SOLUTION
    return fraction;
}

double counting::pipeline_seconds(const Job& job, const StageSeconds& seconds, double message)
{
    // BEGIN SOLUTION 10.7 pipeline_seconds
    const auto micro_batches = static_cast<double>(job.micro_batches);
    double sum = 0.0;
    double slowest = 0.0;
    for (const std::vector<ChunkSeconds>& chunks : seconds) {
        double work = 0.0;
        for (const ChunkSeconds& chunk : chunks) work += micro_batches * (chunk.forward + chunk.backward);
        sum += work;
        slowest = std::max(slowest, work);
    }
    const double through = 2.0 * (job.layout.pp - 1.0) * message;
    if (job.layout.schedule == "naive") return sum + micro_batches * through;
    return slowest + (sum - slowest) / (job.layout.virtual_stages * micro_batches) + through;
    // END SOLUTION
}

double counting::data_seconds(const Job& job, const Topology& topology)
{
    double seconds = 0.0;
    // BEGIN SOLUTION 10.7 data_seconds
    if (job.layout.dp == 1) return 0.0;
    const auto rings = [&](int stage) {
        double sum = 0.0;
        for (const std::int64_t bucket : bucket_elements(job, {stage, 0}))
            sum += data_ring_seconds(job, topology, bucket);
        return sum;
    };
    const bool waits = job.layout.zero >= 2 && job.micro_batches == 1;
    if (!waits) seconds = exposed_reductions(job, topology);
    if (waits)
        for (int stage = 0; stage < job.layout.pp; ++stage) seconds += rings(stage);
    if (job.layout.zero == 1 || job.layout.zero == 2) seconds += rings(0);
    // END SOLUTION
    return seconds;
}

StepTime counting::step_time(const Job& asked, const Topology& topology, bool walks)
{
    StepTime time;
    Job job = asked;
    job.layout.blocks = pipeline::blocks_of(job.shape, job.layout);  // balanced once, not for every pass
    // BEGIN SOLUTION 10.7 step_time
    const Layout& layout = job.layout;
    const Passes passes = passes_of(job, topology);
    const PassSeconds& work = passes.work[passes.slowest];
    time.compute = work.compute;
    time.tensor = work.tensor;
    time.data = work.fetch + data_seconds(job, topology);
    if (layout.pp > 1) {
        const auto ends = [&](double message) {
            return walks ? end_of(walk(schedule_of(job), passes.seconds, message))
                         : pipeline_seconds(job, passes.seconds, message);
        };
        const double without_messages = ends(0.0);
        time.bubble = without_messages - work.total();
        const std::int64_t tied =
            vocabulary_of_rank(job, 0) * job.shape.hidden * static_cast<std::int64_t>(size_of(job.dtype));
        time.pipeline = ends(message_seconds(job, topology)) - without_messages +
                        pipeline_link(job, topology).seconds(static_cast<double>(tied));
    }
    // The norm has a number for each parameter and each device that may have a part of it (lesson 09.2).
    const double terms = 1.0 + (12.0 * static_cast<double>(job.shape.layers) + 4.0) * layout.tp * layout.dp;
    const int devices = layout.world_size();
    const bool everyone_knows_all = layout.dp == devices && layout.zero == 0;
    time.control = doubling_seconds(topology, devices, 8.0);
    if (!everyone_knows_all) time.control += doubling_seconds(topology, devices, 8.0 * terms);
    // END SOLUTION
    return time;
}

double counting::model_flops(const Job& job)
{
    Job once = job;
    once.recompute = Recompute::none;
    return hardware_flops(once);
}

double counting::hardware_flops(const Job& job)
{
    double flops = 0.0;
    // BEGIN SOLUTION 10.7 hardware_flops
    for (int stage = 0; stage < job.layout.pp; ++stage)
        for (int rank = 0; rank < job.layout.tp; ++rank)
            flops += job.layout.dp * device_gemm_flops(job, {stage, rank});
    // END SOLUTION
    return flops;
}
