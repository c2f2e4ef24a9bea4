// Parameters: which part of which global tensor a device holds, and where its value and gradient lie.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lib/machine/tensor/tensor.hpp"

namespace shardlings {

/// A box of a global tensor: elements offset[d] <= index[d] < offset[d] + shape[d] in every dimension d.
/// Serves initialisation, checkpoints and verification, so that they agree about what a shard is.
struct Slice {
    Shape global;
    Shape offset;
    Shape shape;

    static Slice whole(const Shape& global) { return {global, Shape(global.size(), 0), global}; }

    /// Calls run(local, global, count) for every run of elements that lie next to each other in both, in
    /// ascending order; both are row-major element indices.
    void for_each_run(const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& run) const;
};

/// How a parameter starts: a constant, or normal with this standard deviation.
struct Initialisation {
    double constant = 0.0;
    double standard_deviation = 0.0;
};

/// A learned tensor. Its value and gradient are views into a FlatParameters, which owns them.
struct Parameter {
    std::string name;  // GPT-2's, as in "h.0.attn.c_attn.weight"
    Slice slice;
    Initialisation initialisation;
    bool decays = false;  // weight decay: on matrices, not on biases and layer norms
    Tensor value;
    Tensor gradient;

    /// The second accumulator of a parameter that two modules of this device use (the tied embedding): the
    /// head adds to `gradient`, the lookup adds here. Workspace memory, there between the first backward and
    /// merging.
    Tensor second_gradient;

    std::int64_t elements() const { return elements_of(slice.shape); }
};

/// value = the slice of the global initial tensor, which depends on (seed, name, global index) only.
void initialise(Parameter& parameter, std::uint64_t seed);
/// out[i] = element begin + i of that slice, for a device that holds a part of it only.
void initialise(const Parameter& parameter, std::uint64_t seed, std::int64_t begin, Buffer out);

/// gradient += second_gradient, which is freed; nothing when there is none.
void merge_second_gradient(Parameter& parameter);

/// Where a parameter lies in the flat buffer, in elements.
struct FlatEntry {
    Parameter* parameter;
    std::int64_t offset;
};

/// The order and place of all parameters of a device in one flat buffer, padded to a multiple of `degree`
/// elements, so that `degree` equal shards partition it.
struct FlatLayout {
    std::vector<FlatEntry> entries;
    std::int64_t elements = 0;  // without the padding
    std::int64_t padded = 0;
};

FlatLayout make_flat_layout(std::span<Parameter* const> parameters, std::int64_t degree);

/// All values and all gradients of a device, one buffer each; the parameters' tensors are views into them.
class FlatParameters {
  public:
    /// Allocates both buffers (padded elements of `dtype`, zero) and points the parameters' tensors into
    /// them.
    FlatParameters(Device& device, FlatLayout layout, DType dtype);

    const FlatLayout& layout() const { return layout_; }
    Tensor& values() { return values_; }
    Tensor& gradients() { return gradients_; }
    const Tensor& values() const { return values_; }
    const Tensor& gradients() const { return gradients_; }

  private:
    FlatLayout layout_;
    Tensor values_;
    Tensor gradients_;
};

}  // namespace shardlings
