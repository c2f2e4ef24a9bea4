// 10.6 The seconds of one pass of a micro-batch, and of the messages around it.
#pragma once

#include "lessons/10_counting/links.hpp"

namespace counting {

/// Seconds of a ring's reduce-scatter or all-gather over p ranks: p − 1 rounds, in each a message with the
/// largest of the p chunks, ceil(elements / p) of element_bytes. 0 for p = 1.
double ring_seconds(const Link& link, std::int64_t elements, std::int64_t element_bytes, int p);
/// The same over the job's data-parallel group.
double data_ring_seconds(const Job& job, const Topology& topology, std::int64_t elements);

struct PassSeconds {
    double compute = 0.0;  // FLOPs of matrix products / the device's
    double tensor = 0.0;   // tensor-parallel collectives: nothing goes on beside them
    double fetch = 0.0;    // ZeRO 3: what the fetches take beyond the passes that they go on beside

    double total() const { return compute + tensor + fetch; }
    void add(const PassSeconds& other, double times = 1.0)
    {
        compute += times * other.compute;
        tensor += times * other.tensor;
        fetch += times * other.fetch;
    }
};

/// Of each kind of module, without fetches.
struct ModuleSeconds {
    PassSeconds embedding, block, head;
};

/// One micro-batch's pass through a module of rank 0 of a tensor-parallel group, which has as much of the
/// vocabulary as any.
///   compute   of b T tokens, forward (24 h² + 4 T h) / T_p of a block and 2 h V_0 of the head, as in 10.3;
///             backward twice as much
///   tensor    10.4's collectives, each a ring of its size, an all-reduce two; R numbers of each rank (fp32;
///             fp64 for fp64) to all and 8 bytes by recursive doubling for the cross-entropy
/// What a module recomputes by itself is part of its backward pass: selective 4 T h / T_p of a block; full,
/// on a single stage, a block's forward pass.
ModuleSeconds forward_of_modules(const Job& job, const Topology& topology);
ModuleSeconds backward_of_modules(const Job& job, const Topology& topology);

/// One micro-batch's pass through a chunk: its blocks, before the first chunk the embedding, behind the last
/// the head. With full recomputation in a pipeline the backward pass has the forward pass, with its fetches,
/// in it.
///
/// Fetches, with ZeRO 3 and dp > 1: a module's pass waits for the all-gather of what it reads, which goes on
/// beside the pass in front of it and costs what it takes longer than that; a chunk's first begins with the
/// pass. The embedding reads its buckets, a block its own, the head its own and the token embedding's. In the
/// backward pass the head's are still there, and the embedding reads none.
PassSeconds forward_seconds(const Job& job, const Topology& topology, int stage, int chunk);
PassSeconds backward_seconds(const Job& job, const Topology& topology, int stage, int chunk);

/// Seconds of a message between stages: the activation of a micro-batch (10.4).
double message_seconds(const Job& job, const Topology& topology);

}  // namespace counting
