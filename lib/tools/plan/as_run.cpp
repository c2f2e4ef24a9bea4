#include "lib/tools/plan/as_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lessons/10_counting/flops.hpp"
#include "lessons/10_counting/states.hpp"
#include "lessons/10_counting/time.hpp"
#include "lessons/10_counting/traffic.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/machine/base/units.hpp"
#include "lib/tools/agreement/activations.hpp"
#include "lib/tools/plan/text.hpp"

namespace shardlings::plan {

counting::Job job_of(const Run& run, const Split& split, DType dtype)
{
    const Model& m = run.model;
    check(m.kv_heads == m.heads && m.mlp == 4 * m.hidden && !m.gated && m.tied && m.biases && m.positions &&
              !m.rms_norm,
          "--as-run: this program runs models of GPT-2's kind alone, and {} is none", m.name);
    counting::Job job;
    job.shape = {m.layers, m.hidden, m.heads, m.sequence, m.vocabulary};
    job.shape.validate();
    job.layout.pp = static_cast<int>(split.pp);
    job.layout.dp = static_cast<int>(split.dp);
    job.layout.tp = static_cast<int>(split.tp);
    job.layout.zero = split.zero;
    job.layout.schedule = name_of(split.schedule);
    job.layout.virtual_stages = static_cast<int>(split.virtual_stages);
    job.layout.sequence_parallel = split.sequence_parallel;
    job.layout.validate();
    job.dtype = dtype;
    job.batch = run.batch;
    job.micro_batches = split.micro_batches(run);
    job.recompute = split.recompute;
    return job;
}

std::string as_run_text(const Run& run, const Split& split, const Cluster& cluster, DType dtype)
{
    const counting::Job job = job_of(run, split, dtype);
    const std::int64_t in_node = std::min(cluster.devices_per_node, cluster.devices);
    const Topology topology{static_cast<int>(cluster.devices / in_node), static_cast<int>(in_node),
                            cluster.intra, cluster.inter, cluster.flops};
    std::string text = fmt::format(
        "\nas this program runs it, in {}: bytes of a device of each stage, bytes it sends in a step, its "
        "products' FLOPs\n{:>5} {:>15} {:>15} {:>15} {:>17} {:>17} {:>15} {:>15} {:>13}\n",
        name_of(dtype), "stage", "parameters", "gradients", "optimizer", "activations", "tensor", "pipeline",
        "data", "FLOPs");
    for (int stage = 0; stage < job.layout.pp; ++stage) {
        const counting::Place place{stage, 0};
        const counting::StateBytes states = counting::state_bytes(job, place);
        add(text, "{:>5} {:>15} {:>15} {:>15} {:>17} {:>17} {:>15} {:>15} {:>13}\n", stage,
            grouped(states.parameters), grouped(states.gradients), grouped(states.optimizer_states),
            grouped(counting::peak_activations(job, place, topology)),
            grouped(counting::tensor_parallel_bytes(job, place)),
            grouped(counting::pipeline_bytes(job, place)), grouped(counting::data_parallel_bytes(job, place)),
            with_prefix(counting::device_gemm_flops(job, place), "FLOP"));
    }
    const counting::StepTime time = counting::step_time(job, topology, true);
    return text +
           fmt::format(
               "a step in virtual time: {} = compute {} + tensor {} + data {} + bubble {} + pipeline {} + "
               "control {}\n",
               format_seconds(time.total()), format_seconds(time.compute), format_seconds(time.tensor),
               format_seconds(time.data), format_seconds(time.bubble), format_seconds(time.pipeline),
               format_seconds(time.control));
}

}  // namespace shardlings::plan
