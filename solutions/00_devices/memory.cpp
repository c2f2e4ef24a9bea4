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
    std::int64_t fits = 0;
    std::int64_t too_many = 1;
    const auto try_rows = [&](std::int64_t rows) {
        try {
            const Tensor tensor(device, {rows, columns}, dtype, Category::activations);
            return true;
        } catch (const DeviceOutOfMemory&) {
            return false;
        }
    };
    while (try_rows(too_many)) {
        fits = too_many;
        too_many *= 2;
    }
    while (too_many - fits > 1) {
        const std::int64_t middle = fits + (too_many - fits) / 2;
        (try_rows(middle) ? fits : too_many) = middle;
    }
    return fits;
    // END SOLUTION
}
