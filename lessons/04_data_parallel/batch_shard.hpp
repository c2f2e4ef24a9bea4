// 04.1 Every device of a data-parallel group works on its part of the global batch.
#pragma once

#include <vector>

#include "lib/machine/nn/module.hpp"

namespace data_parallel {

using namespace shardlings;

/// The micro-batches of rank `rank` in a data-parallel group of `degree` ranks. The B sequences of the global
/// batch are cut into degree · micro_batches equal parts, in order; rank r has the parts from r ·
/// micro_batches on, which get the index 0, 1, … there. Every part's token_weight is 1 / (targets of the
/// global batch that are not −1): the losses and gradients of all micro-batches of all ranks add up to those
/// of the global batch, however the counted targets are spread. Error when B is not divisible, or no target
/// counts.
std::vector<MicroBatch> shard_batch(const MicroBatch& global, int degree, int rank,
                                    std::int64_t micro_batches);

}  // namespace data_parallel
