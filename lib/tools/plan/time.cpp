#include "lib/tools/plan/time.hpp"

#include <algorithm>

namespace shardlings::plan {

namespace {

double number(std::int64_t value)
{
    return static_cast<double>(value);
}

/// FLOPs of one sequence's forward pass in the products of all blocks, and those of them that selective
/// recomputation repeats.
struct BlockProducts {
    double all;
    double attention;
};

BlockProducts block_products(const counting::SequenceFlops& flops)
{
    const double attention = flops.attention_logits + flops.attention_sum;
    return {flops.qkv + attention + flops.projection + flops.mlp, attention};
}

/// Bytes that the element-wise work of a block's forward pass reads and writes; the backward pass twice that.
struct ElementWise {
    double all;
    double softmax;
};

ElementWise element_wise(const Run& run, const Split& split)
{
    const Model& m = run.model;
    const double e = run.element_bytes;
    const double mask = m.dropout ? 1.0 : 0.0;
    const double rows = number(split.micro_batch * m.sequence);
    // Two norms, read and written; twice bias, dropout and residual: two read, one written, and a mask.
    const double outside = rows * number(m.hidden) * (10.0 * e + 2.0 * mask);
    const double activation = rows * number(m.mlp) * (m.gated ? 3.0 : 2.0) * e;
    // Logits read, probabilities written; dropout again, and its mask.
    const double softmax = rows * number(m.heads) * number(m.sequence) *
                           (m.dropout ? 4.0 * e + mask : 2.0 * e) / number(split.tp);
    return {
        outside / number(split.sequence_parallel ? split.tp : 1) + activation / number(split.tp) + softmax,
        softmax};
}

/// Seconds that a stage spends on one micro-batch.
struct Slot {
    double forward;  // all blocks of the stage
    double backward;
    double recompute;
    double tensor_forward;
    double tensor_backward;
    double pipeline;
    double head;  // of the last stage, forward and backward

    double blocks() const
    {
        return forward + backward + recompute + tensor_forward + tensor_backward + pipeline;
    }
};

/// All-reduces of an activation: forward 2 a block, or as many gathers and scatters; backward as many, again
/// those of the forward pass when it is recomputed, and with sequence parallelism two gathers of what is not
/// kept.
double reduces_backward(const Split& split)
{
    return 2.0 + (split.recompute == Recompute::full ? 2.0 : 0.0) + (split.sequence_parallel ? 1.0 : 0.0);
}

double activation_bytes(const Run& run, const Split& split)
{
    return run.element_bytes * number(split.micro_batch * run.model.sequence) * number(run.model.hidden);
}

double pipeline_seconds(const Run& run, const Split& split, const Cluster& cluster)
{
    if (split.pp == 1) return 0.0;
    const Ring tensor = ring_of(cluster, split.tp, 1);
    const bool leaves = split.devices() > cluster.devices_per_node;
    const Link& link = leaves ? cluster.inter : cluster.intra;
    const double activation = activation_bytes(run, split);
    double message = link.latency + activation / number(split.tp) / (link.bandwidth * cluster.link_achieved);
    if (!split.sequence_parallel) message += tensor.gather(activation);
    return 2.0 * number(split.virtual_stages) * message;
}

Slot slot_of(const Run& run, const Split& split, const Cluster& cluster)
{
    const Model& m = run.model;
    const counting::SequenceFlops flops = sequence_flops(m);
    const BlockProducts products = block_products(flops);
    const ElementWise bytes = element_wise(run, split);
    const double blocks = number(m.layers / split.pp);
    // Of a sequence's FLOPs in all blocks, what this device's seconds are in this micro-batch.
    const double share = number(split.micro_batch) / number(split.pp * split.tp) / cluster.product_speed();
    Slot slot{};
    slot.forward = share * products.all + blocks * bytes.all / cluster.memory_speed();
    slot.backward = 2.0 * slot.forward;
    if (split.recompute == Recompute::full) slot.recompute = slot.forward;
    if (split.recompute == Recompute::selective)
        slot.recompute = share * products.attention + blocks * bytes.softmax / cluster.memory_speed();
    const double reduce = ring_of(cluster, split.tp, 1).all_reduce(activation_bytes(run, split));
    slot.tensor_forward = blocks * 2.0 * reduce;
    slot.tensor_backward = blocks * reduces_backward(split) * reduce;
    slot.pipeline = pipeline_seconds(run, split, cluster);
    slot.head = 3.0 * flops.output * number(split.micro_batch) / number(split.tp) / cluster.product_speed();
    return slot;
}

double largest_stage(const Run& run, const Split& split)
{
    return std::max(parameters_of_stage(run.model, split, true, split.pp == 1),
                    parameters_of_stage(run.model, split, split.pp == 1, true));
}

/// Seconds that computing does not hide.
double data_seconds(const Run& run, const Split& split, const Cluster& cluster, const Slot& slot)
{
    const Ring ring = ring_of(cluster, split.dp, split.tp);
    const double parameters = largest_stage(run, split);
    const double reduce = ring.gather(run.gradient_bytes * parameters);
    const double gather =
        ring.gather((split.zero == 0 ? run.gradient_bytes : run.element_bytes) * parameters);
    const double forward = slot.forward + slot.tensor_forward;
    const double backward = slot.backward + slot.recompute + slot.tensor_backward;
    const auto beyond = [](double seconds, double hidden) { return std::max(0.0, seconds - hidden); };
    const double count = number(split.micro_batches(run));
    switch (split.zero) {
        case 0:
            return beyond(reduce + gather, backward);
        case 1:
            return beyond(reduce, backward) + beyond(gather, forward);
        case 2:
            return count * beyond(reduce, backward) + beyond(gather, forward);
        default:
            return count * (beyond(gather, forward) + beyond(gather + reduce, backward));
    }
}

/// Unscaling reads and writes the gradients, the norm reads them, clipping reads and writes them, Adam reads
/// them and reads and writes its states, the parameters are written, the gradients set to zero.
double optimizer_bytes(const Run& run, const Split& split)
{
    const double shared = split.zero > 0 ? number(split.dp) : 1.0;
    return largest_stage(run, split) / shared *
           (7.0 * run.gradient_bytes + 2.0 * run.optimizer_bytes + run.element_bytes);
}

}  // namespace

Traffic traffic_of(const Run& run, const Split& split)
{
    const auto of_ring = [](std::int64_t size) { return number(size - 1) / number(size); };
    const double count = number(split.micro_batches(run));
    const double blocks = number(run.model.layers / split.pp);
    const double activation = activation_bytes(run, split);
    Traffic traffic;
    traffic.tensor = count * blocks * (2.0 + reduces_backward(split)) * 2.0 * of_ring(split.tp) * activation;
    if (split.pp > 1)
        traffic.pipeline = count * 2.0 * number(split.virtual_stages) * activation / number(split.tp);
    const double reduces = split.zero >= 2 ? count : 1.0;
    const double gathers = split.zero == 3 ? 2.0 * count : 1.0;
    const double gathered = split.zero == 0 ? run.gradient_bytes : run.element_bytes;
    traffic.data =
        of_ring(split.dp) * largest_stage(run, split) * (reduces * run.gradient_bytes + gathers * gathered);
    return traffic;
}

StepTime step_time(const Run& run, const Split& split, const Cluster& cluster)
{
    const Slot slot = slot_of(run, split, cluster);
    const double count = number(split.micro_batches(run));
    StepTime time;
    time.compute = count * (slot.forward + slot.backward + slot.head);
    time.recompute = count * slot.recompute;
    time.tensor = count * (slot.tensor_forward + slot.tensor_backward);
    time.pipeline = count * slot.pipeline;
    time.bubble = number(split.pp - 1) / number(split.virtual_stages) * slot.blocks();
    time.data = data_seconds(run, split, cluster, slot);
    time.optimizer = optimizer_bytes(run, split) / cluster.memory_speed();
    return time;
}

Utilisation utilisation(const Run& run, const Split& split, const Cluster& cluster, double seconds)
{
    const counting::SequenceFlops flops = sequence_flops(run.model);
    const BlockProducts products = block_products(flops);
    const double model = 3.0 * (products.all + flops.output);
    double again = 0.0;
    if (split.recompute == Recompute::full) again = products.all;
    if (split.recompute == Recompute::selective) again = products.attention;
    const double possible = seconds * number(split.devices()) * cluster.flops / number(run.batch);
    return {model / possible, (model + again) / possible};
}

}  // namespace shardlings::plan
