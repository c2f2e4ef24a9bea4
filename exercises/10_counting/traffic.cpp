#include "lessons/10_counting/traffic.hpp"

#include <algorithm>
#include <bit>

#include "lessons/03_collectives/ring.hpp"
#include "lessons/10_counting/fetches.hpp"
#include "lessons/10_counting/parameters.hpp"
#include "lib/machine/base/error.hpp"

using namespace counting;

namespace {

/// Bytes of one 8-byte number summed over p ranks by recursive doubling (lesson 03.5).
std::int64_t doubling_bytes(int p, int rank)
{
    const int q = static_cast<int>(std::bit_floor(static_cast<unsigned>(p)));
    if (p == 1) return 0;
    if (rank >= q) return 8;
    const int rounds = std::countr_zero(static_cast<unsigned>(q));
    return 8 * (rounds + (rank + q < p ? 1 : 0));
}

/// What one micro-batch sends in the tensor-parallel group. enter, leave and their backward passes are those
/// of lesson 08.1: a column-parallel layer is entered, a row-parallel one left.
class TensorTraffic {
  public:
    explicit TensorTraffic(const Job& job, int rank)
        : p_(job.layout.tp),
          rank_(rank),
          sequence_(job.layout.sequence_parallel),
          h_(job.shape.hidden),
          rows_(job.micro_batch() * job.shape.sequence),
          size_(static_cast<std::int64_t>(size_of(job.dtype))),
          statistics_(std::max<std::int64_t>(size_, 4))
    {
    }

    std::int64_t block_forward() const
    {
        // Your code: see lessons/10_counting/traffic.hpp (hints: make hint-10 PART=10.4)
        not_implemented("10.4 TensorTraffic::block_forward");
    }
    std::int64_t block_backward() const
    {
        // Your code: see lessons/10_counting/traffic.hpp (hints: make hint-10 PART=10.4)
        not_implemented("10.4 TensorTraffic::block_backward");
    }
    std::int64_t embedding_forward() const { return leave(); }
    std::int64_t embedding_backward() const { return leave_backward(); }
    std::int64_t head_forward() const
    {
        // Your code: see lessons/10_counting/traffic.hpp (hints: make hint-10 PART=10.4)
        not_implemented("10.4 TensorTraffic::head_forward");
    }
    std::int64_t head_backward() const
    {
        // Your code: see lessons/10_counting/traffic.hpp (hints: make hint-10 PART=10.4)
        not_implemented("10.4 TensorTraffic::head_backward");
    }

  private:
    /// Bytes of one collective over the padded rows, and of an all-reduce of n elements.
    std::int64_t padded() const { return (rows_ + p_ - 1) / p_ * p_ * h_; }
    std::int64_t gather() const { return size_ * all_gather_elements(padded(), p_, rank_); }
    std::int64_t scatter() const { return size_ * reduce_scatter_elements(padded(), p_, rank_); }
    std::int64_t reduce(std::int64_t n) const { return size_ * all_reduce_elements(n, p_, rank_); }

    std::int64_t enter() const { return sequence_ ? gather() : 0; }
    std::int64_t enter_backward() const { return leave(); }
    std::int64_t leave() const { return sequence_ ? scatter() : reduce(rows_ * h_); }
    std::int64_t leave_backward() const { return enter(); }
    std::int64_t layer_norm() const { return sequence_ ? reduce(2 * h_) : 0; }

    int p_;
    int rank_;
    bool sequence_;
    std::int64_t h_;
    std::int64_t rows_;
    std::int64_t size_;
    std::int64_t statistics_;  // bytes of a row's number in the cross-entropy: fp32 for 16-bit dtypes
};

}  // namespace

std::int64_t counting::reduce_scatter_elements(std::int64_t n, int p, int rank)
{
    // Your code: see lessons/10_counting/traffic.hpp (hints: make hint-10 PART=10.4)
    not_implemented("10.4 reduce_scatter_elements");
}

std::int64_t counting::all_gather_elements(std::int64_t n, int p, int rank)
{
    // Your code: see lessons/10_counting/traffic.hpp (hints: make hint-10 PART=10.4)
    not_implemented("10.4 all_gather_elements");
}

std::int64_t counting::all_reduce_elements(std::int64_t n, int p, int rank)
{
    return reduce_scatter_elements(n, p, rank) + all_gather_elements(n, p, rank);
}

std::int64_t counting::data_parallel_bytes(const Job& job, const Place& place)
{
    std::int64_t bytes = 0;
    // Your code: see lessons/10_counting/traffic.hpp (hints: make hint-10 PART=10.4)
    not_implemented("10.4 data_parallel_bytes");
    return bytes;
}

std::int64_t counting::tensor_parallel_bytes(const Job& job, const Place& place)
{
    std::int64_t bytes = 0;
    // Your code: see lessons/10_counting/traffic.hpp (hints: make hint-10 PART=10.4)
    not_implemented("10.4 tensor_parallel_bytes");
    return bytes;
}

std::int64_t counting::pipeline_bytes(const Job& job, const Place& place)
{
    std::int64_t bytes = 0;
    // Your code: see lessons/10_counting/traffic.hpp (hints: make hint-10 PART=10.4)
    not_implemented("10.4 pipeline_bytes");
    return bytes;
}
