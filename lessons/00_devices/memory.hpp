// 00.1 Memory: a device has a budget, and every byte is asked for.
#pragma once

#include "lib/machine/device/device.hpp"
#include "lib/machine/tensor/tensor.hpp"

namespace devices {

using namespace shardlings;

/// A tensor of activations of this shape and dtype, every element 0.
Tensor make_zeros(Device& device, const Shape& shape, DType dtype);

/// The bytes that one training step of a layer x (rows, n) → y (rows, m) holds at its peak when x, y and the
/// weight (n, m) and its gradient are all in `dtype`: elements times the dtype's size, nothing else.
std::uint64_t layer_bytes(std::int64_t rows, std::int64_t n, std::int64_t m, DType dtype);

/// The largest number of rows such that allocating and freeing tensors of (rows, columns) one at a time
/// succeeds on this device now. 0 when not even one row fits. Leaves the device's memory in use as it was.
std::int64_t rows_that_fit(Device& device, std::int64_t columns, DType dtype);

}  // namespace devices
