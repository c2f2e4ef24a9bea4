// 10.7 The seconds of a training step (Narayanan et al. 2021, sections 2 and 3).
#pragma once

#include "lessons/10_counting/passes.hpp"
#include "lessons/10_counting/walk.hpp"

namespace counting {

/// The idle share of all stages' time when all passes are equal and messages take no time:
///   one stage 0; naive (P − 1) / P; gpipe, 1f1b (P − 1) / (M + P − 1); interleaved (P − 1) / (V M + P − 1)
double bubble_fraction(const Job& job);

/// Seconds of all passes of a step, without what follows them. With T_s the seconds that stage s works and c
/// a message's:
///   naive                     Σ_s T_s + 2 (P − 1) M c
///   gpipe, 1f1b, interleaved  max T + (Σ_s T_s − max T) / (V M) + 2 (P − 1) c
/// The slowest stage works all the time but for one chunk's pass of each of the others, before its first
/// and behind its last. Exact with c = 0 when all passes are equal; `walk` also has the rest: chunks of
/// different lengths, and messages that a stage waits for in the middle.
double pipeline_seconds(const Job& job, const StageSeconds& seconds, double message);

/// Seconds of data parallelism that nothing hides, in the last micro-batch's backward pass and after it.
///   reductions   the first stage's buckets are reduced one after the other, from the last module back, while
///                the backward pass goes on (ZeRO 0: an all-reduce, else a reduce-scatter): how much later
///                the last reduction ends than the passes. With w = 0 before, in that order w = max(0, w +
///                the reduction - the pass that follows its module's). The head is followed by a block's
///                pass, the last block by the embedding's, and that by nothing. A pipeline's embedding has
///                two buckets, the positions' and the token embedding's: nothing follows either.
///                ZeRO 2 and 3 with one micro-batch: each is waited for, on every stage, before the next
///                bucket is allocated, and the micro-batch goes through all stages: the sum of all stages'
///                reduce-scatters. (With more micro-batches the first one allocates the buckets, and the
///                last one's reductions go on beside its passes, as with ZeRO 1.)
///   ZeRO 1, 2    also the all-gathers of the first stage's buckets, after the update
double data_seconds(const Job& job, const Topology& topology);

/// Where the time of a step goes. The slowest stage is the one whose passes of all micro-batches take longest
/// (PassSeconds::total), the first of several.
struct StepTime {
    double compute = 0.0;   // of the slowest stage
    double tensor = 0.0;    // of the slowest stage
    double data = 0.0;      // its fetches and data_seconds
    double bubble = 0.0;    // of all passes' seconds with messages that take no time, what is not its own
    double pipeline = 0.0;  // what messages add to them; and V_0 h elements, the tied embedding's exchange
    double control = 0.0;   // sums over all devices by recursive doubling: the loss's 8 bytes, and unless
                            // every device has all gradients (data parallelism alone, ZeRO 0) the norm's,
                            // 1 + (12 L + 4) T_p D_p numbers of 8 bytes (lesson 09.2)

    double total() const { return compute + tensor + data + bubble + pipeline + control; }
};

/// `walks`: a pipeline's passes are gone through (walk) instead of taken from the formula.
StepTime step_time(const Job& job, const Topology& topology, bool walks);

/// FLOPs of a step's matrix products on all devices, without what is recomputed:
/// batch · T · 3 (L (24 h² + 4 T h) + 2 h V); and with it.
double model_flops(const Job& job);
double hardware_flops(const Job& job);

/// Share of what all devices could have done in `seconds`: of model_flops the model FLOPs utilisation, of
/// hardware_flops the hardware's.
inline double utilisation(double flops, const Job& job, const Topology& topology, double seconds)
{
    return flops / (seconds * topology.flops * job.layout.world_size());
}

}  // namespace counting
