// What the cost of a training run depends on.
#pragma once

#include <cstdint>

#include "lib/machine/base/dtype.hpp"
#include "lib/machine/base/layout.hpp"
#include "lib/machine/base/model_shape.hpp"

namespace counting {

using namespace shardlings;

/// What the backward pass computes again: nothing; the attention's two products (lesson 08's
/// recompute_attention); or everything from the kept input of a block (one stage: embedding and head are not
/// recomputed) or of a stage (several: all that is on it).
enum class Recompute : std::uint8_t { none, selective, full };

/// A model, a layout and a batch. The functions of this lesson trust a job: what cannot be run (Layout's and
/// ModelShape's validate, heads that T_p does not divide, a batch that dp · M does not divide) is refused
/// before.
struct Job {
    ModelShape shape;
    Layout layout;
    DType dtype = DType::fp32;       // of parameters, gradients and activations
    std::int64_t batch = 8;          // sequences in the global batch
    std::int64_t micro_batches = 1;  // M, of a data-parallel rank
    Recompute recompute = Recompute::none;

    /// Sequences in a micro-batch, b = batch / (dp · M).
    std::int64_t micro_batch() const { return batch / (layout.dp * micro_batches); }
};

/// A device of the grid, by its stage and its rank in the tensor-parallel group: data-parallel ranks have and
/// send the same.
struct Place {
    int stage = 0;
    int tensor_rank = 0;
};

}  // namespace counting
