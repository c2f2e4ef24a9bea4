// What the forward pass keeps for the backward pass.
#pragma once

#include <utility>
#include <vector>

#include "lib/machine/tensor/tensor.hpp"

namespace shardlings {

/// A stack of tensors: forward pushes, backward pops in the reverse order. What is popped is freed when its
/// holder lets go of it, so activations disappear as the backward pass goes on.
class Saved {
  public:
    void push(Tensor tensor) { tensors_.push_back(std::move(tensor)); }
    Tensor pop()
    {
        check(!tensors_.empty(),
              "the backward pass asks for more activations than the forward pass saved: push and "
              "pop the same number, in opposite orders");
        Tensor tensor = std::move(tensors_.back());
        tensors_.pop_back();
        return tensor;
    }
    std::size_t size() const { return tensors_.size(); }

  private:
    std::vector<Tensor> tensors_;
};

}  // namespace shardlings
