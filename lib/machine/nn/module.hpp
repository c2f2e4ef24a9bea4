// Module: a piece of the model with an explicit forward and backward pass.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lib/machine/nn/parameter.hpp"
#include "lib/machine/nn/saved.hpp"

namespace shardlings {

/// B sequences of T tokens that go through the model together. The arrays belong to the caller, row-major (B
/// x T).
struct MicroBatch {
    std::int64_t sequences = 0;             // B
    std::int64_t tokens = 0;                // T
    std::span<const std::int32_t> inputs;   // token ids
    std::span<const std::int32_t> targets;  // the token that follows each; -1: not counted in the loss
    double token_weight = 0.0;              // 1 / (counted tokens of the whole global batch)
    std::int64_t index = 0;                 // of the micro-batch in its global batch
    std::int64_t first_sequence = 0;        // its first one's number in the global batch
    std::int64_t step = 0;                  // 1, 2, … in training; 0 when a model is evaluated
};

/// One link of the chain that is the model: embedding, blocks, head.
///
/// forward(x) computes y and pushes on `saved` what backward will need; backward(dy) pops it, adds the
/// gradients of the loss to the parameters' gradients, and returns dx. `saved` belongs to the caller, who may
/// hold one for each of many micro-batches; when backward returns it is as it was before forward, and its
/// memory is freed.
///
/// The embedding takes an empty x and returns an empty dx; the head returns the loss as one fp64 number,
/// which is summed over micro-batches and devices, and takes dy = d(objective)/d(loss), one fp64 number.
class Module {
  public:
    virtual ~Module() = default;
    virtual std::vector<Parameter*> parameters() = 0;
    virtual Tensor forward(const MicroBatch& batch, Tensor x, Saved& saved) = 0;
    virtual Tensor backward(const MicroBatch& batch, Tensor dy, Saved& saved) = 0;
    /// False when backward only adds to gradients, as a lookup's does: then it may run while the values are
    /// not there.
    virtual bool backward_reads_values() const { return true; }
};

/// Modules in the order of the forward pass.
using Modules = std::vector<std::unique_ptr<Module>>;

/// The parameters of all modules, in their order, each once.
std::vector<Parameter*> parameters_of(const Modules& modules);

}  // namespace shardlings
