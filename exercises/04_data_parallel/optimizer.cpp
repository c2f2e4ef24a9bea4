#include "lessons/04_data_parallel/optimizer.hpp"

#include <ranges>
#include <utility>

#include "lessons/02_training_step/clipping.hpp"
#include "lib/machine/base/error.hpp"

using namespace data_parallel;

namespace {

/// Elements [offset, offset + count) of the bucket, as a part of what is held of it.
ConstBuffer within(const Held& held, const Segment& segment)
{
    return std::as_const(held.tensor).buffer().part(segment.offset - held.part.offset, segment.count);
}

bool holds(const Chunk& part, const Segment& segment)
{
    return segment.offset >= part.offset && segment.offset < part.offset + part.count;
}

class ReplicatedOptimizer : public Optimizer {
  public:
    ReplicatedOptimizer(const std::vector<Bucket>& buckets, int degree, ParameterValues& values,
                        Gradients& gradients)
        : buckets_(buckets), degree_(degree), values_(values), gradients_(gradients)
    {
        for (std::size_t b = 0; b < buckets.size(); ++b)
            states_.push_back(training::make_optimizer_states(values.held(b).tensor));
    }

    training::UpdateResult update(const training::AdamW& options, double max_norm,
                                  training::LossScale* loss_scale) override
    {
        // Your code: see lessons/04_data_parallel/optimizer.hpp (hints: make hint-04 PART=04.4)
        not_implemented("04.4 ReplicatedOptimizer::update");
    }

    Chunk part(std::size_t bucket) const override { return {0, buckets_[bucket].padded}; }
    training::OptimizerStates& states(std::size_t bucket) override { return states_[bucket]; }

  private:
    const std::vector<Bucket>& buckets_;
    int degree_;
    ParameterValues& values_;
    Gradients& gradients_;
    std::vector<training::OptimizerStates> states_;
};

}  // namespace

std::vector<double> data_parallel::norm_terms(const std::vector<Bucket>& buckets, int degree,
                                              Gradients& gradients, bool check_overflow)
{
    std::vector<double> terms{0.0};
    // Your code: see lessons/04_data_parallel/optimizer.hpp (hints: make hint-04 PART=04.4)
    not_implemented("04.4 norm_terms");
    return terms;
}

training::UpdateResult data_parallel::update_parts(const training::AdamW& options, double max_norm,
                                                   training::LossScale* loss_scale,
                                                   std::span<const double> terms,
                                                   std::span<OptimizerPart> parts)
{
    training::UpdateResult result;
    // Your code: see lessons/04_data_parallel/optimizer.hpp (hints: make hint-04 PART=04.4)
    not_implemented("04.4 update_parts");
    return result;
}

std::unique_ptr<Optimizer> data_parallel::make_replicated_optimizer(const std::vector<Bucket>& buckets,
                                                                    int degree, ParameterValues& values,
                                                                    Gradients& gradients)
{
    return std::make_unique<ReplicatedOptimizer>(buckets, degree, values, gradients);
}
