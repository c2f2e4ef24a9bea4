#include <utility>

#include "lessons/03_collectives/recursive_doubling.hpp"
#include "lessons/04_data_parallel/optimizer.hpp"
#include "lessons/05_zero/zero.hpp"
#include "lib/machine/base/error.hpp"

using namespace zero;

namespace {

class ShardedOptimizer : public Optimizer {
  public:
    ShardedOptimizer(Group& group, const std::vector<Bucket>& buckets, ParameterValues& values,
                     Gradients& gradients)
        : group_(group), buckets_(buckets), values_(values), gradients_(gradients)
    {
        // Your code: see lessons/05_zero/zero.hpp (hints: make hint-05 PART=05.2)
        not_implemented("05.2 ShardedOptimizer");
    }

    training::UpdateResult update(const training::AdamW& options, double max_norm,
                                  training::LossScale* loss_scale) override
    {
        // Your code: see lessons/05_zero/zero.hpp (hints: make hint-05 PART=05.2)
        not_implemented("05.2 ShardedOptimizer::update");
    }

    Chunk part(std::size_t bucket) const override
    {
        return buckets_[bucket].shard(group_.data.size(), group_.data.rank());
    }
    training::OptimizerStates& states(std::size_t bucket) override { return states_[bucket]; }

  private:
    /// Elements `part` of the bucket, of which more may be held.
    static Tensor own_part(const Held& held, const Chunk& part)
    {
        return held.tensor.view(part.offset - held.part.offset, {part.count});
    }

    Group& group_;
    const std::vector<Bucket>& buckets_;
    ParameterValues& values_;
    Gradients& gradients_;
    std::vector<training::OptimizerStates> states_;  // of the own shard of each bucket
};

}  // namespace

std::unique_ptr<Optimizer> zero::make_sharded_optimizer(Group& group, const std::vector<Bucket>& buckets,
                                                        ParameterValues& values, Gradients& gradients)
{
    return std::make_unique<ShardedOptimizer>(group, buckets, values, gradients);
}
