#include "lib/tools/cli/plan_flags.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "lib/machine/base/error.hpp"
#include "lib/machine/base/units.hpp"

namespace shardlings {

void add_plan_flags(CLI::App& command, PlanFlags& f)
{
    command.add_option("--model", f.model,
                       "a name, as gpt2-small, gpt3-175b, llama2-70b, megatron-1t, or a .json file; the "
                       "flags of sizes change it or, without it, describe a model of GPT-2's kind");
    command.add_option("--layers", f.layers, "Transformer blocks");
    command.add_option("--hidden", f.hidden, "hidden size h");
    command.add_option("--heads", f.heads, "attention heads");
    command.add_option("--kv-heads", f.kv_heads, "heads of keys and values (default: all)");
    command.add_option("--mlp", f.mlp, "width of the MLP (default: 4h)");
    command.add_option("--seq", f.sequence, "tokens per sequence");
    command.add_option("--vocab", f.vocabulary, "vocabulary");
    command.add_option("--batch", f.batch,
                       "sequences in the global batch (default: one for each device, at least 8)");
    command.add_option(
        "--dtype", f.dtype,
        "fp32, fp64, bf16 or fp16, of parameters and activations (default: bf16; laptop: fp32)");
    command.add_flag("--fp32-gradients", f.fp32_gradients, "gradients of 4 bytes beside 16-bit parameters");
    command.add_option("--cluster", f.cluster, "a100-80g, h100 or laptop")->capture_default_str();
    command.add_option("--devices-per-node", f.devices_per_node, "devices that a node has");
    command.add_option("--memory", f.memory, "of a device, as in 40GB");
    command.add_option("--flops", f.flops, "FLOP/s of a device at most");
    command.add_option("--achieved", f.achieved, "part of them that matrix products achieve, 0 to 1");
    command.add_option("--in-node", f.in_node, "bytes/s of a device's link inside the node, as in 300GB");
    command.add_option("--between-nodes", f.between_nodes,
                       "bytes/s of a device's link out of it, as in 25GB");
}

plan::Cluster cluster_of(const PlanFlags& flags, std::optional<std::int64_t> devices)
{
    plan::Cluster cluster = plan::named_cluster(flags.cluster);
    if (flags.devices_per_node) cluster.devices_per_node = *flags.devices_per_node;
    cluster.devices = devices.value_or(cluster.devices_per_node);
    if (flags.flops) cluster.flops = *flags.flops;
    if (flags.achieved) cluster.flops_achieved = *flags.achieved;
    const auto bytes = [](const std::string& text, double& value) {
        if (!text.empty()) value = static_cast<double>(parse_bytes(text));
    };
    bytes(flags.memory, cluster.memory);
    bytes(flags.in_node, cluster.intra.bandwidth);
    bytes(flags.between_nodes, cluster.inter.bandwidth);
    cluster.check_sizes();
    return cluster;
}

DType dtype_of(const PlanFlags& flags, const plan::Cluster& cluster)
{
    return parse_dtype(flags.dtype.empty() ? cluster.dtype : flags.dtype);
}

plan::Run run_of(const PlanFlags& flags, const plan::Cluster& cluster)
{
    plan::Run run;
    if (flags.model.ends_with(".json"))
        run.model = plan::read_model(flags.model);
    else if (!flags.model.empty())
        run.model = plan::named_model(flags.model);
    const auto change = [](std::int64_t& size, const std::optional<std::int64_t>& flag) {
        if (flag) size = *flag;
    };
    // What follows from another size follows it, unless it is given.
    if (flags.hidden && run.model.mlp == 4 * run.model.hidden) run.model.mlp = 0;
    if (flags.heads && run.model.kv_heads == run.model.heads) run.model.kv_heads = 0;
    change(run.model.layers, flags.layers);
    change(run.model.hidden, flags.hidden);
    change(run.model.heads, flags.heads);
    change(run.model.kv_heads, flags.kv_heads);
    change(run.model.mlp, flags.mlp);
    change(run.model.sequence, flags.sequence);
    change(run.model.vocabulary, flags.vocabulary);
    run.model.finish();
    run.batch = flags.batch.value_or(std::max<std::int64_t>(8, cluster.devices));
    check(run.batch >= 1 && run.batch <= 100'000'000, "--batch is {}: expected 1 to 100000000", run.batch);
    const DType dtype = dtype_of(flags, cluster);
    run.element_bytes = static_cast<double>(size_of(dtype));
    run.gradient_bytes = flags.fp32_gradients ? std::max(4.0, run.element_bytes) : run.element_bytes;
    run.optimizer_bytes = is_sixteen_bit(dtype) ? 12.0 : 2.0 * run.element_bytes;
    return run;
}

}  // namespace shardlings
