// The training step measured: on one thread, beside PyTorch's where that is installed.
#pragma once

namespace shardlings {

/// For three shapes: tokens/s, GFLOP/s of the matrix products over the whole step, their part of the time,
/// the step's part of the machine's measured GEMM speed, and how many times faster than PyTorch.
///
/// Method: fp32, forward, backward, clipping and AdamW. In each of `rounds` rounds ours and then PyTorch's
/// step are measured, each the shortest of several after a warm-up; the ratio is the median over the rounds,
/// so that a machine whose speed drifts disturbs both alike.
void bench_step(int rounds);

}  // namespace shardlings
