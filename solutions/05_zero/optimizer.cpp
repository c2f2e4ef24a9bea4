#include <utility>

#include "lessons/03_collectives/recursive_doubling.hpp"
#include "lessons/04_data_parallel/optimizer.hpp"
#include "lessons/05_zero/zero.hpp"

using namespace zero;

namespace {

class ShardedOptimizer : public Optimizer {
  public:
    ShardedOptimizer(Group& group, const std::vector<Bucket>& buckets, ParameterValues& values,
                     Gradients& gradients)
        : group_(group), buckets_(buckets), values_(values), gradients_(gradients)
    {
        // BEGIN SOLUTION 05.2 ShardedOptimizer
        for (std::size_t b = 0; b < buckets.size(); ++b)
            states_.push_back(training::make_optimizer_states(own_part(values.held(b), part(b))));
        // END SOLUTION
    }

    training::UpdateResult update(const training::AdamW& options, double max_norm,
                                  training::LossScale* loss_scale) override
    {
        // BEGIN SOLUTION 05.2 ShardedOptimizer::update
        std::vector<double> terms =
            norm_terms(buckets_, group_.data.size(), gradients_, loss_scale != nullptr);
        collectives::recursive_doubling_all_reduce(group_.control, buffer_of(std::span(terms)));
        std::vector<OptimizerPart> parts;
        for (std::size_t b = 0; b < buckets_.size(); ++b)
            parts.push_back({&buckets_[b], part(b), own_part(values_.held(b), part(b)),
                             own_part(gradients_.held(b), part(b)), &states_[b]});
        const training::UpdateResult result = update_parts(options, max_norm, loss_scale, terms, parts);
        if (!result.skipped) values_.gather_shards();
        return result;
        // END SOLUTION
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
