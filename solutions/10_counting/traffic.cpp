#include "lessons/10_counting/traffic.hpp"

#include <algorithm>
#include <bit>

#include "lessons/03_collectives/ring.hpp"
#include "lessons/10_counting/fetches.hpp"
#include "lessons/10_counting/parameters.hpp"

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
        // BEGIN SOLUTION 10.4 TensorTraffic::block_forward
        return 2 * (enter() + leave());
        // END SOLUTION
    }
    std::int64_t block_backward() const
    {
        // BEGIN SOLUTION 10.4 TensorTraffic::block_backward
        return 2 * (leave_backward() + enter() + enter_backward() + layer_norm());
        // END SOLUTION
    }
    std::int64_t embedding_forward() const { return leave(); }
    std::int64_t embedding_backward() const { return leave_backward(); }
    std::int64_t head_forward() const
    {
        // BEGIN SOLUTION 10.4 TensorTraffic::head_forward
        return enter() + statistics_ * all_gather_elements(p_ * rows_, p_, rank_) + doubling_bytes(p_, rank_);
        // END SOLUTION
    }
    std::int64_t head_backward() const
    {
        // BEGIN SOLUTION 10.4 TensorTraffic::head_backward
        return enter() + enter_backward() + layer_norm();
        // END SOLUTION
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
    // BEGIN SOLUTION 10.4 reduce_scatter_elements
    return p == 1 ? 0 : n - collectives::chunk_of(n, p, rank).count;
    // END SOLUTION
}

std::int64_t counting::all_gather_elements(std::int64_t n, int p, int rank)
{
    // BEGIN SOLUTION 10.4 all_gather_elements
    return p == 1 ? 0 : n - collectives::chunk_of(n, p, (rank + 1) % p).count;
    // END SOLUTION
}

std::int64_t counting::all_reduce_elements(std::int64_t n, int p, int rank)
{
    return reduce_scatter_elements(n, p, rank) + all_gather_elements(n, p, rank);
}

std::int64_t counting::data_parallel_bytes(const Job& job, const Place& place)
{
    std::int64_t bytes = 0;
    // BEGIN SOLUTION 10.4 data_parallel_bytes
    const int degree = job.layout.dp;
    const std::vector<std::int64_t> buckets = bucket_elements(job, place);
    const bool sharded = job.layout.zero == 3;
    const std::vector<std::int64_t> gathers =
        sharded ? fetches(job, place.stage) : std::vector<std::int64_t>(buckets.size(), 1);
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        const std::int64_t padded = (buckets[b] + degree - 1) / degree * degree;
        bytes += static_cast<std::int64_t>(size_of(job.dtype)) *
                 (reduce_scatter_elements(padded, degree, 0) +
                  gathers[b] * all_gather_elements(padded, degree, 0));
    }
    // END SOLUTION
    return bytes;
}

std::int64_t counting::tensor_parallel_bytes(const Job& job, const Place& place)
{
    std::int64_t bytes = 0;
    // BEGIN SOLUTION 10.4 tensor_parallel_bytes
    if (job.layout.tp == 1) return 0;
    const TensorTraffic one(job, place.tensor_rank);
    const std::int64_t blocks = blocks_of_stage(job, place.stage);
    const bool full = job.recompute == Recompute::full;
    const int stage_forwards = full && job.layout.pp > 1 ? 2 : 1;
    bytes = blocks * ((full ? 2 : 1) * one.block_forward() + one.block_backward());
    if (place.stage == 0) bytes += stage_forwards * one.embedding_forward() + one.embedding_backward();
    if (place.stage == job.layout.pp - 1) bytes += stage_forwards * one.head_forward() + one.head_backward();
    bytes *= job.micro_batches;
    // END SOLUTION
    return bytes;
}

std::int64_t counting::pipeline_bytes(const Job& job, const Place& place)
{
    std::int64_t bytes = 0;
    // BEGIN SOLUTION 10.4 pipeline_bytes
    const int stages = job.layout.pp;
    if (stages == 1) return 0;
    const std::int64_t rows = job.micro_batch() * job.shape.sequence;
    const int tp = job.layout.sequence_parallel ? job.layout.tp : 1;
    const std::int64_t activation = (rows + tp - 1) / tp * job.shape.hidden;
    const bool first = place.stage == 0;
    const bool last = place.stage == stages - 1;
    const std::int64_t chunks = job.layout.virtual_stages;
    const std::int64_t forward = chunks - (last ? 1 : 0);
    const std::int64_t backward = chunks - (first ? 1 : 0);
    bytes = job.micro_batches * (forward + backward) * activation;
    if (first || last) bytes += vocabulary_of_rank(job, place.tensor_rank) * job.shape.hidden;
    bytes *= static_cast<std::int64_t>(size_of(job.dtype));
    // END SOLUTION
    return bytes;
}
