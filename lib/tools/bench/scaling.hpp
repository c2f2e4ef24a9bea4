// Weak scaling of data parallelism measured: twice the devices, twice the global batch.
#pragma once

#include "lib/machine/comm/session.hpp"

namespace shardlings {

/// Tokens per second of training on 1 and on 2 ranks of one thread each, and their ratio; 2 would be perfect.
///
/// Method: fp32, forward, backward, all-reduce of every layer's gradients, clipping and AdamW, 8 sequences a
/// rank. In each of `rounds` rounds a launch of 1 rank and then one of 2 ranks measure 10 steps in a row
/// after 3 to warm up; the ratio is the median over the rounds, so that a machine whose speed drifts disturbs
/// both alike.
void bench_scaling(int rounds);

/// One of those launches: every rank of it calls this; rank 0 prints the tokens per second.
void measure_scaling(MpiSession& session);

}  // namespace shardlings
