// What a step sends, and how long it takes.
#pragma once

#include "lib/tools/plan/cluster.hpp"
#include "lib/tools/plan/memory.hpp"

namespace shardlings::plan {

/// Bytes that a device sends in a step, on the wire of a ring: (p − 1)/p of what is gathered or reduced. Of
/// the stage that sends most; the few bytes of norms and losses are left out.
struct Traffic {
    double tensor = 0.0;    // 4 all-reduces of e b s h a block and micro-batch; + 2 recomputing in full;
                            // + 1 sequence-parallel: two gathers backward of what is not kept
    double pipeline = 0.0;  // e b s h / T_p forward and as much backward, a chunk and micro-batch
    double data = 0.0;      // gradients reduced and values gathered: ZeRO 0 and 1 once a step; 2 reduces,
                            // 3 also gathers twice, for every micro-batch
};
Traffic traffic_of(const Run& run, const Split& split);

/// Seconds of a step, in parts that add up to it. Nothing of the tensor-parallel group's and the pipeline's
/// is hidden behind computing; the data-parallel group's is, as far as the backward pass of one micro-batch
/// (its forward pass as well for ZeRO 3) lasts.
struct StepTime {
    double compute = 0.0;    // forward and backward passes: products and element-wise work
    double recompute = 0.0;  // what the backward pass computes again
    double tensor = 0.0;     // waiting for the tensor-parallel group
    double pipeline = 0.0;   // sending between stages
    double bubble = 0.0;     // a stage with nothing to do: (P − 1) / V micro-batches of it
    double data = 0.0;       // waiting for the data-parallel group
    double optimizer = 0.0;  // the step itself, at the memory's speed

    double total() const { return compute + recompute + tensor + pipeline + bubble + data + optimizer; }
};
StepTime step_time(const Run& run, const Split& split, const Cluster& cluster);

/// FLOPs of a step over what the devices could do in that time: those of the model's products, forward and
/// backward, with the output layer and without the look-up (MFU); with those computed again (HFU).
struct Utilisation {
    double model;
    double hardware;
};
Utilisation utilisation(const Run& run, const Split& split, const Cluster& cluster, double seconds);

}  // namespace shardlings::plan
