// What the cost of a training run depends on.
#pragma once

#include <cstdint>

#include "lib/machine/base/dtype.hpp"
#include "lib/machine/base/layout.hpp"
#include "lib/machine/base/model_shape.hpp"

namespace counting {

using namespace shardlings;

/// Recomputation in the backward pass: nothing, the attention's probabilities, or everything from the input
/// of a block or stage.
enum class Recompute : std::uint8_t { none, selective, full };

struct Job {
    ModelShape shape;
    Layout layout;
    DType dtype = DType::fp32;
    std::int64_t batch = 8;          // sequences in the global batch
    std::int64_t micro_batches = 1;  // of a data-parallel rank
    Recompute recompute = Recompute::none;

    /// Sequences in a micro-batch, b.
    std::int64_t micro_batch() const { return batch / (layout.dp * micro_batches); }
};

/// A device of the grid.
struct Place {
    int stage = 0;
    int tensor_rank = 0;
};

}  // namespace counting
