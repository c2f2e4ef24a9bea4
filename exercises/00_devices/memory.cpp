#include "lessons/00_devices/memory.hpp"
#include "lib/machine/base/error.hpp"

using namespace devices;

Tensor devices::make_zeros(Device& device, const Shape& shape, DType dtype)
{
    // Your code: see lessons/00_devices/memory.hpp (hints: make hint-00 PART=00.1)
    not_implemented("00.1 make_zeros");
}

std::uint64_t devices::layer_bytes(std::int64_t rows, std::int64_t n, std::int64_t m, DType dtype)
{
    // Your code: see lessons/00_devices/memory.hpp (hints: make hint-00 PART=00.1)
    not_implemented("00.1 layer_bytes");
}

std::int64_t devices::rows_that_fit(Device& device, std::int64_t columns, DType dtype)
{
    // Your code: see lessons/00_devices/memory.hpp (hints: make hint-00 PART=00.1)
    not_implemented("00.1 rows_that_fit");
}
