// Recursive doubling's messages.
#pragma once

#include <bit>
#include <cstdint>

namespace zero_test {

/// Messages that rank `rank` of `ranks` sends in one recursive doubling.
inline std::uint64_t doubling_messages(int ranks, int rank)
{
    const auto q = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
    if (rank >= q) return 1;
    return static_cast<std::uint64_t>(std::countr_zero(static_cast<unsigned>(q))) +
           (rank + q < ranks ? 1 : 0);
}

}  // namespace zero_test
