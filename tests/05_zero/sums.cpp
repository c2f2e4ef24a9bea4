#include "tests/05_zero/sums.hpp"

#include <utility>

#include "lib/machine/tensor/arithmetic.hpp"

namespace zero_test {

Tensor ring_sum(const std::vector<Tensor>& of_ranks)
{
    const auto p = of_ranks.size();
    Tensor sum = of_ranks.front().clone(Category::workspace);
    const std::int64_t shard = sum.elements() / static_cast<std::int64_t>(p);
    for (std::size_t c = 0; c < p; ++c) {
        const std::int64_t begin = shard * static_cast<std::int64_t>(c);
        const Buffer own = sum.buffer().part(begin, shard);
        convert(of_ranks[(c + 1) % p].buffer().part(begin, shard), own);
        for (std::size_t step = 2; step <= p; ++step)
            add(of_ranks[(c + step) % p].buffer().part(begin, shard), own);
    }
    return sum;
}

}  // namespace zero_test
