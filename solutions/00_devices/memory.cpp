#include "lessons/00_devices/memory.hpp"

using namespace devices;

Tensor devices::make_zeros(Device& device, const Shape& shape, DType dtype)
{
    // BEGIN SOLUTION 00.1 make_zeros
    Tensor zeros(device, shape, dtype, Category::activations);
    zeros.fill_zero();
    return zeros;
    // END SOLUTION
}

std::uint64_t devices::layer_bytes(std::int64_t rows, std::int64_t n, std::int64_t m, DType dtype)
{
    // BEGIN SOLUTION 00.1 layer_bytes
    const std::int64_t activations = rows * n + rows * m;
    const std::int64_t weight_and_gradient = 2 * n * m;
    return static_cast<std::uint64_t>(activations + weight_and_gradient) * size_of(dtype);
    // END SOLUTION
}

std::int64_t devices::rows_that_fit(Device& device, std::int64_t columns, DType dtype)
{
    // BEGIN SOLUTION 00.1 rows_that_fit
    const std::uint64_t row_bytes = static_cast<std::uint64_t>(columns) * size_of(dtype);
    return static_cast<std::int64_t>(device.available() / row_bytes);
    // END SOLUTION
}
