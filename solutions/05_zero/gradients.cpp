#include <algorithm>
#include <deque>
#include <utility>

#include "lessons/04_data_parallel/bucket_gradients.hpp"
#include "lessons/05_zero/zero.hpp"
#include "lib/machine/tensor/arithmetic.hpp"

using namespace zero;

namespace {

class ShardedGradients : public Gradients {
  public:
    ShardedGradients(Group& group, const Modules& modules, const std::vector<Bucket>& buckets,
                     const ReplicaOptions& options, const ZeroOptions& zero_options)
        : group_(group),
          buckets_(buckets),
          options_(options),
          zero_options_(zero_options),
          used_(buckets_of_modules(modules, buckets)),
          full_(buckets.size())
    {
        for (const Bucket& bucket : buckets)
            shards_.emplace_back(device(), Shape{own_chunk(bucket).count}, options.dtype,
                                 Category::gradients);
    }

    void begin_step(std::int64_t micro_batches) override
    {
        micro_batches_ = micro_batches;
        for (Tensor& shard : shards_) shard.fill_zero();
    }

    void before_backward(std::size_t module) override
    {
        // BEGIN SOLUTION 05.3 ShardedGradients::before_backward
        for (const std::size_t b : used_[module]) {
            if (!full_[b].empty()) continue;
            while (std::ssize(reducing_) >= zero_options_.gradient_buckets) free_oldest();
            full_[b] = Tensor(device(), {buckets_[b].padded}, options_.dtype, Category::gradients);
            full_[b].fill_zero();
            bind_gradients(buckets_[b], full_[b]);
        }
        // END SOLUTION
    }

    void after_backward(std::size_t module, std::int64_t micro_batch) override
    {
        // BEGIN SOLUTION 05.3 ShardedGradients::after_backward
        if (micro_batch + 1 < micro_batches_ && !zero_options_.accumulate_in_shards) return;
        for (std::size_t b = 0; b < buckets_.size(); ++b)
            if (buckets_[b].first_module == module) reduce(b);
        // END SOLUTION
    }

    void finish() override
    {
        // BEGIN SOLUTION 05.3 ShardedGradients::finish
        while (!reducing_.empty()) free_oldest();
        // END SOLUTION
    }

    Held held(std::size_t bucket) override
    {
        return {own_chunk(buckets_[bucket]), shards_[bucket].view(0, shards_[bucket].shape())};
    }

  private:
    struct Reducing {
        Tensor full;
        double done;  // virtual time
    };

    Device& device() const { return group_.data.device(); }
    Chunk own_chunk(const Bucket& bucket) const
    {
        return bucket.shard(group_.data.size(), group_.data.rank());
    }

    void reduce(std::size_t b)
    {
        // BEGIN SOLUTION 05.3 ShardedGradients::reduce
        for (const FlatEntry& entry : buckets_[b].entries) merge_second_gradient(*entry.parameter);
        bind_gradients(buckets_[b], Tensor());
        Tensor full = std::move(full_[b]);
        const double done =
            run_beside(device(), options_.overlap, fmt::format("reduce-scatter bucket {}", b), [&] {
                collectives::ring_reduce_scatter(group_.data, full.buffer());
                const Chunk own = own_chunk(buckets_[b]);
                add(full.view(own.offset, {own.count}), shards_[b]);
            });
        reducing_.push_back({std::move(full), done});
        // END SOLUTION
    }

    void free_oldest()
    {
        wait_beside(device(), reducing_.front().done);
        reducing_.pop_front();
    }

    Group& group_;
    const std::vector<Bucket>& buckets_;
    ReplicaOptions options_;
    ZeroOptions zero_options_;
    std::vector<std::vector<std::size_t>> used_;  // the buckets to which each module adds gradients
    std::vector<Tensor> shards_;                  // of each bucket
    std::vector<Tensor> full_;                    // of each bucket, while the backward pass adds to it
    std::deque<Reducing> reducing_;
    std::int64_t micro_batches_ = 1;
};

}  // namespace

std::unique_ptr<Gradients> zero::make_sharded_gradients(Group& group, const Modules& modules,
                                                        const std::vector<Bucket>& buckets,
                                                        const ReplicaOptions& options,
                                                        const ZeroOptions& zero_options)
{
    check(zero_options.gradient_buckets >= 1, "--gradient-buckets is {}: expected 1 or more",
          zero_options.gradient_buckets);
    return std::make_unique<ShardedGradients>(group, modules, buckets, options, zero_options);
}
