#include "lessons/06_pipeline/optimizer.hpp"

#include <algorithm>
#include <utility>

#include "lessons/03_collectives/recursive_doubling.hpp"
#include "lessons/04_data_parallel/optimizer.hpp"

using namespace pipeline;
using namespace data_parallel;

namespace {

class PipelineOptimizer : public Optimizer {
  public:
    PipelineOptimizer(Comm& everyone, Group& group, std::vector<std::string> names,
                      const Parameter* uncounted, const std::vector<Bucket>& buckets, ParameterValues& values,
                      Gradients& gradients, std::unique_ptr<Optimizer> inner)
        : everyone_(everyone),
          group_(group),
          names_(std::move(names)),
          uncounted_(uncounted),
          buckets_(buckets),
          values_(values),
          gradients_(gradients),
          inner_(std::move(inner))
    {
    }

    training::UpdateResult update(const training::AdamW& options, double max_norm,
                                  training::LossScale* loss_scale) override
    {
        const std::vector<double> terms = terms_of_the_model(loss_scale != nullptr);
        std::vector<OptimizerPart> parts;
        bool shards = false;
        for (std::size_t b = 0; b < buckets_.size(); ++b) {
            const Chunk part = inner_->part(b);
            shards = shards || part.count < buckets_[b].padded;
            parts.push_back({&buckets_[b], part, cut(values_.held(b), part), cut(gradients_.held(b), part),
                             &inner_->states(b)});
        }
        const training::UpdateResult result = update_parts(options, max_norm, loss_scale, terms, parts);
        if (shards && !result.skipped) values_.gather_shards();
        return result;
    }

    Chunk part(std::size_t bucket) const override { return inner_->part(bucket); }
    training::OptimizerStates& states(std::size_t bucket) override { return inner_->states(bucket); }

  private:
    static Tensor cut(const Held& held, const Chunk& part)
    {
        return held.tensor.view(part.offset - held.part.offset, {part.count});
    }

    /// [overflows, then a place for each parameter of the model and each owner]
    std::vector<double> terms_of_the_model(bool check_overflow)
    {
        const auto degree = static_cast<std::size_t>(group_.data.size());
        const std::vector<double> own = norm_terms(buckets_, group_.data.size(), gradients_, check_overflow);
        std::vector<double> all(1 + names_.size() * degree, 0.0);
        // BEGIN SOLUTION 06.5 terms_of_the_model
        all[0] = own[0];
        std::size_t next = 1;
        for (std::size_t b = buckets_.size(); b-- > 0;)
            for (const Segment& segment : segments_of(buckets_[b], group_.data.size())) {
                const double term = own[next++];
                if (segment.owner != group_.data.rank() || segment.parameter == uncounted_) continue;
                const auto name = std::find(names_.begin(), names_.end(), segment.parameter->name);
                if (name == names_.end()) continue;
                const auto place = static_cast<std::size_t>(name - names_.begin()) * degree;
                all[1 + place + static_cast<std::size_t>(segment.owner)] = term;
            }
        collectives::recursive_doubling_all_reduce(everyone_, buffer_of(std::span(all)));
        // END SOLUTION
        return all;
    }

    Comm& everyone_;
    Group& group_;
    std::vector<std::string> names_;
    const Parameter* uncounted_;
    const std::vector<Bucket>& buckets_;
    ParameterValues& values_;
    Gradients& gradients_;
    std::unique_ptr<Optimizer> inner_;
};

}  // namespace

std::unique_ptr<Optimizer> pipeline::make_pipeline_optimizer(Comm& everyone, Group& group,
                                                             std::vector<std::string> names,
                                                             const Parameter* uncounted,
                                                             const std::vector<Bucket>& buckets,
                                                             ParameterValues& values, Gradients& gradients,
                                                             std::unique_ptr<Optimizer> inner)
{
    return std::make_unique<PipelineOptimizer>(everyone, group, std::move(names), uncounted, buckets, values,
                                               gradients, std::move(inner));
}
