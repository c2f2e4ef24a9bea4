#include <algorithm>
#include <functional>
#include <utility>

#include "lessons/03_collectives/broadcast.hpp"
#include "lessons/04_data_parallel/bucket_gradients.hpp"
#include "lessons/04_data_parallel/hooks.hpp"
#include "lessons/05_zero/zero.hpp"
#include "lib/machine/base/error.hpp"

using namespace zero;

namespace {

class ShardedValues : public ParameterValues {
  public:
    ShardedValues(Group& group, const Modules& modules, const std::vector<Bucket>& buckets,
                  const ReplicaOptions& options, Fetch fetch)
        : group_(group),
          buckets_(buckets),
          options_(options),
          how_(fetch),
          used_(buckets_of_modules(modules, buckets)),
          used_backward_(used_),
          fetched_(buckets.size())
    {
        for (std::size_t i = 0; i < modules.size(); ++i)
            if (!modules[i]->backward_reads_values()) used_backward_[i].clear();
        for (const Bucket& bucket : buckets) {
            const Chunk own = own_chunk(bucket);
            shards_.emplace_back(device(), Shape{own.count}, options.dtype, Category::parameters);
            shards_.back().fill_zero();
            for (const Segment& segment : segments_of(bucket, group.data.size()))
                if (segment.owner == group.data.rank())
                    initialise(*segment.parameter, options.seed, segment.offset - segment.parameter_offset,
                               shards_.back().buffer().part(segment.offset - own.offset, segment.count));
        }
    }

    void before_forward(std::size_t module) override
    {
        enter(needs(used_, module), needs(used_, module + 1));
    }
    void after_forward(std::size_t module) override
    {
        const bool last = module + 1 == used_.size();  // its backward follows
        keep_only(last ? needs(used_backward_, module) : needs(used_, module + 1));
    }
    void before_backward(std::size_t module) override
    {
        enter(needs(used_backward_, module), needs(used_backward_, module - 1));
    }
    void after_backward(std::size_t module) override { keep_only(needs(used_backward_, module - 1)); }

    Held held(std::size_t bucket) override
    {
        return {own_chunk(buckets_[bucket]), shards_[bucket].view(0, shards_[bucket].shape())};
    }
    void gather_shards() override {}
    void release() override { keep_only(none_); }

  private:
    using BucketList = std::vector<std::size_t>;
    struct Fetched {
        Tensor values;
        double done = 0.0;  // virtual time
    };

    Device& device() const { return group_.data.device(); }
    Chunk own_chunk(const Bucket& bucket) const
    {
        return bucket.shard(group_.data.size(), group_.data.rank());
    }
    /// Nothing for a module that there is none: behind the last, or before the first.
    const BucketList& needs(const std::vector<BucketList>& used, std::size_t module) const
    {
        return module < used.size() ? used[module] : none_;
    }

    /// Makes `now` be there, and starts to fetch `next`.
    void enter(const BucketList& now, const BucketList& next)
    {
        // Your code: see lessons/05_zero/zero.hpp (hints: make hint-05 PART=05.4)
        not_implemented("05.4 ShardedValues::enter");
    }

    /// Frees every bucket that is not in `kept`.
    void keep_only(const BucketList& kept)
    {
        // Your code: see lessons/05_zero/zero.hpp (hints: make hint-05 PART=05.4)
        not_implemented("05.4 ShardedValues::keep_only");
    }

    void fetch(std::size_t b)
    {
        // Your code: see lessons/05_zero/zero.hpp (hints: make hint-05 PART=05.4)
        not_implemented("05.4 ShardedValues::fetch");
    }

    /// shard r of `values` on rank r -> all of it on every rank
    void bring_together(const Bucket& bucket, Buffer values)
    {
        // Your code: see lessons/05_zero/zero.hpp (hints: make hint-05 PART=05.4)
        not_implemented("05.4 ShardedValues::bring_together");
    }

    Group& group_;
    const std::vector<Bucket>& buckets_;
    ReplicaOptions options_;
    Fetch how_;
    std::vector<BucketList> used_;           // the buckets whose values each module reads forward
    std::vector<BucketList> used_backward_;  // and backward
    std::vector<Tensor> shards_;             // of each bucket
    std::vector<Fetched> fetched_;           // of each bucket; empty while it is not there
    BucketList none_;
};

}  // namespace

std::unique_ptr<ParameterValues> zero::make_sharded_values(Group& group, const Modules& modules,
                                                           const std::vector<Bucket>& buckets,
                                                           const ReplicaOptions& options, Fetch fetch)
{
    return std::make_unique<ShardedValues>(group, modules, buckets, options, fetch);
}

Replica zero::make_zero_replica(int stage, Group& group, const Modules& modules,
                                const ReplicaOptions& options, const ZeroOptions& zero_options)
{
    check(stage >= 0 && stage <= 3, "ZeRO stage {}: expected 0, 1, 2 or 3", stage);
    if (stage == 0) return make_replica(group, modules, options);
    Replica replica;
    replica.buckets = std::make_unique<const std::vector<Bucket>>(
        make_buckets(modules, group.data.size(), options.dtype, options.bucket_bytes));
    const std::vector<Bucket>& buckets = *replica.buckets;
    replica.values = stage == 3 ? make_sharded_values(group, modules, buckets, options, zero_options.fetch)
                                : make_replicated_values(group, buckets, options);
    replica.gradients = stage >= 2 ? make_sharded_gradients(group, modules, buckets, options, zero_options)
                                   : make_bucket_gradients(group, buckets, options, Keep::own_shard);
    replica.optimizer = make_sharded_optimizer(group, buckets, *replica.values, *replica.gradients);
    return replica;
}
