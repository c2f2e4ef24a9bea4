// Sums over whole tensors, of any floating-point dtype.
#pragma once

#include "lib/machine/tensor/tensor.hpp"

namespace shardlings {

/// y[i] += x[i], each sum rounded once to the dtype of y. Same dtype and number of elements.
void add(const Tensor& x, Tensor& y);
void add(ConstBuffer x, Buffer y);

}  // namespace shardlings
