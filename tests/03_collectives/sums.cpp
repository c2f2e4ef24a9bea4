#include "tests/03_collectives/sums.hpp"

#include "lib/machine/tensor/arithmetic.hpp"

namespace collectives_test {

Buffer part_of(std::vector<std::byte>& values, Chunk chunk, DType dtype)
{
    return {values.data() + static_cast<std::size_t>(chunk.offset) * size_of(dtype), chunk.count, dtype};
}

std::vector<std::byte> ring_sum(const RankValues& values, std::int64_t n, DType dtype)
{
    const auto p = static_cast<int>(values.size());
    std::vector<std::byte> sum(values.front().size());
    std::vector<std::byte> own;
    for (int index = 0; index < p; ++index) {
        const Chunk chunk = chunk_of(n, p, index);
        const Buffer to = part_of(sum, chunk, dtype);
        for (int step = 1; step <= p; ++step) {
            own = values[static_cast<std::size_t>((index + step) % p)];
            const Buffer from = part_of(own, chunk, dtype);
            if (step == 1)
                std::copy_n(from.data, from.bytes(), to.data);
            else
                add(from, to);
        }
    }
    return sum;
}

}  // namespace collectives_test
