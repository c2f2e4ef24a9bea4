// 00.1 Memory: a device has a budget, and every byte is asked for.
#pragma once

#include "lib/machine/device/device.hpp"
#include "lib/machine/tensor/tensor.hpp"

namespace devices {

using namespace shardlings;

/// A tensor of activations of this shape and dtype on `device`, every element 0.
/// DeviceOutOfMemory when the device has no room for it.
Tensor make_zeros(Device& device, const Shape& shape, DType dtype);

/// The bytes that a layer y = x w holds while it is trained: x (rows, n), y (rows, m), the weight w (n, m)
/// and the weight's gradient (n, m), all four in `dtype`. Elements times the dtype's size, nothing else.
std::uint64_t layer_bytes(std::int64_t rows, std::int64_t n, std::int64_t m, DType dtype);

/// The largest number of rows such that a tensor (rows, columns) can be allocated on `device` now, beside
/// what is on it already; 0 when not even one row fits. columns >= 1. Allocates nothing that it does not
/// free.
std::int64_t rows_that_fit(Device& device, std::int64_t columns, DType dtype);

}  // namespace devices
