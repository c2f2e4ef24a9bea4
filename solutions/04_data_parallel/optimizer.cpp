#include "lessons/04_data_parallel/optimizer.hpp"

#include <ranges>
#include <utility>

#include "lessons/02_training_step/clipping.hpp"

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
        // BEGIN SOLUTION 04.4 ReplicatedOptimizer::update
        const std::vector<double> terms = norm_terms(buckets_, degree_, gradients_, loss_scale != nullptr);
        std::vector<OptimizerPart> parts;
        for (std::size_t b = 0; b < buckets_.size(); ++b)
            parts.push_back(
                {&buckets_[b], part(b), values_.held(b).tensor, gradients_.held(b).tensor, &states_[b]});
        return update_parts(options, max_norm, loss_scale, terms, parts);
        // END SOLUTION
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
    // BEGIN SOLUTION 04.4 norm_terms
    for (std::size_t b = buckets.size(); b-- > 0;) {
        const Held held = gradients.held(b);
        if (check_overflow && training::has_overflow(std::as_const(held.tensor).buffer())) terms[0] = 1.0;
        for (const Segment& segment : segments_of(buckets[b], degree))
            terms.push_back(holds(held.part, segment) ? training::sum_of_squares(within(held, segment))
                                                      : 0.0);
    }
    // END SOLUTION
    return terms;
}

training::UpdateResult data_parallel::update_parts(const training::AdamW& options, double max_norm,
                                                   training::LossScale* loss_scale,
                                                   std::span<const double> terms,
                                                   std::span<OptimizerPart> parts)
{
    training::UpdateResult result;
    // BEGIN SOLUTION 04.4 update_parts
    const double scale = loss_scale == nullptr ? 1.0 : loss_scale->scale;
    if (loss_scale != nullptr) {
        result.skipped = terms[0] > 0.0;
        training::update_loss_scale(*loss_scale, result.skipped);
        if (result.skipped) return result;
    }
    result.gradient_norm = training::global_norm(terms.subspan(1)) / scale;
    const double factor = training::clip_factor(result.gradient_norm, max_norm) / scale;

    for (OptimizerPart& part : parts) {
        training::OptimizerStates& states = *part.states;
        ++states.step;
        Tensor& weights = states.master.empty() ? part.values : states.master;
        for (const FlatEntry& entry : part.bucket->entries) {
            const std::int64_t begin = std::max(entry.offset, part.part.offset);
            const std::int64_t end =
                std::min(entry.offset + entry.parameter->elements(), part.part.offset + part.part.count);
            if (begin >= end) continue;
            const auto cut = [&](Tensor& tensor) {
                return tensor.buffer().part(begin - part.part.offset, end - begin);
            };
            training::adamw_update(options, states.step, factor, entry.parameter->decays, cut(part.gradients),
                                   cut(states.m), cut(states.v), cut(weights));
        }
        if (!states.master.empty()) convert(std::as_const(states.master).buffer(), part.values.buffer());
    }
    // END SOLUTION
    return result;
}

std::unique_ptr<Optimizer> data_parallel::make_replicated_optimizer(const std::vector<Bucket>& buckets,
                                                                    int degree, ParameterValues& values,
                                                                    Gradients& gradients)
{
    return std::make_unique<ReplicatedOptimizer>(buckets, degree, values, gradients);
}
