// Training runs of a small GPT, as the driver's "train" does them, computed in one process: all ranks after
// each other, and by lesson 02 without any ranks. Lesson 05's tests use it too.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

#include "lessons/01_transformer/model.hpp"
#include "lessons/02_training_step/accumulation.hpp"
#include "lessons/02_training_step/clipping.hpp"
#include "lessons/02_training_step/mixed_precision.hpp"
#include "lessons/04_data_parallel/batch_shard.hpp"
#include "tests/04_data_parallel/ring_sum.hpp"
#include "tests/04_data_parallel/support.hpp"

namespace data_parallel_test {

struct TrainingRun {
    std::string name;
    DType dtype = DType::fp64;
    int ranks = 1;
    std::int64_t micro_batches = 1;
    std::int64_t bucket_elements = 0;  // of bucket_bytes, which is 1 for 0
    double max_norm = 1.0;
    double loss_scale = 1024.0;  // of fp16, at the start
    bool overlap = true;
    ModelShape shape{2, 8, 2, 6, 11};
    std::int64_t sequences = 24;
    std::int64_t steps = 20;
    double learning_rate = 1e-2;
    std::uint64_t seed = 5;

    std::int64_t bucket_bytes() const
    {
        return std::max<std::int64_t>(bucket_elements * static_cast<std::int64_t>(size_of(dtype)), 1);
    }
    std::int64_t batch_tokens() const { return sequences * shape.sequence; }
    std::vector<std::int32_t> inputs() const
    {
        return random_ids("inputs", steps * batch_tokens(), static_cast<std::int32_t>(shape.vocabulary));
    }
    /// What follows each input by a rule that can be learned. In the first third of every batch one target in
    /// four counts, so that ranks and micro-batches count unequal numbers.
    std::vector<std::int32_t> targets() const;
    training::AdamW adamw() const
    {
        training::AdamW options;
        options.learning_rate = learning_rate;
        return options;
    }
    training::LossScale scale() const { return {loss_scale, 0, 5, 16777216.0, 1.0}; }
    bool scaled() const { return dtype == DType::fp16; }
    json as_json(bool show_gradients) const;
};

inline std::vector<std::int32_t> TrainingRun::targets() const
{
    std::vector<std::int32_t> targets = inputs();
    const auto vocabulary = static_cast<std::int32_t>(shape.vocabulary);
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const auto place = static_cast<std::int64_t>(i) % batch_tokens();
        const bool counts = place >= batch_tokens() / 3 || i % 4 == 0;
        targets[i] = counts ? (3 * targets[i] + 1) % vocabulary : -1;
    }
    return targets;
}

inline json TrainingRun::as_json(bool show_gradients) const
{
    return {{"layers", shape.layers},
            {"hidden", shape.hidden},
            {"heads", shape.heads},
            {"tokens", shape.sequence},
            {"vocabulary", shape.vocabulary},
            {"dtype", name_of(dtype)},
            {"seed", seed},
            {"bucket_bytes", bucket_bytes()},
            {"overlap", overlap},
            {"inputs", inputs()},
            {"targets", targets()},
            {"sequences", sequences},
            {"micro_batches", micro_batches},
            {"steps", steps},
            {"learning_rate", learning_rate},
            {"loss_scale", loss_scale},
            {"max_norm", max_norm},
            {"show_gradients", show_gradients}};
}

/// The tokens of a run, and its batches.
class Batches {
  public:
    explicit Batches(const TrainingRun& run) : run_(run), inputs_(run.inputs()), targets_(run.targets()) {}
    MicroBatch global(std::int64_t step) const
    {
        const auto count = static_cast<std::size_t>(run_.batch_tokens());
        const std::size_t first = static_cast<std::size_t>(step) * count;
        return {run_.sequences,
                run_.shape.sequence,
                std::span(inputs_).subspan(first, count),
                std::span(targets_).subspan(first, count),
                0.0,
                0};
    }

  private:
    TrainingRun run_;
    std::vector<std::int32_t> inputs_, targets_;
};

/// One step of all ranks.
struct GroupStep {
    std::vector<double> losses;             // of every rank's part
    std::vector<std::vector<double>> sums;  // of every bucket's gradients, padded
    bool skipped = false;
    double norm = 0.0;
};

/// All ranks in one process: they share the values and the optimizer states, which are the same on all of
/// them, and have buffers of gradients each.
class GroupRun {
  public:
    explicit GroupRun(const TrainingRun& run)
        : run_(run),
          batches_(run),
          modules_(transformer::make_gpt(run.shape)),
          buckets_(data_parallel::make_buckets(modules_, run.ranks, run.dtype, run.bucket_bytes())),
          scale_(run.scale())
    {
        for (const data_parallel::Bucket& bucket : buckets_) {
            values_.emplace_back(device_, Shape{bucket.padded}, run.dtype, Category::parameters);
            values_.back().fill_zero();
            data_parallel::bind_values(bucket, values_.back());
            for (const FlatEntry& entry : bucket.entries) initialise(*entry.parameter, run.seed);
            states_.push_back(training::make_optimizer_states(values_.back()));
        }
    }

    const std::vector<data_parallel::Bucket>& buckets() const { return buckets_; }
    const std::vector<Tensor>& values() const { return values_; }
    const std::vector<training::OptimizerStates>& states() const { return states_; }

    GroupStep step(std::int64_t number)
    {
        GroupStep result;
        std::vector<std::vector<Tensor>> ranks;
        for (int rank = 0; rank < run_.ranks; ++rank) {
            ranks.emplace_back();
            for (const data_parallel::Bucket& bucket : buckets_) {
                Tensor& gradients =
                    ranks.back().emplace_back(device_, Shape{bucket.padded}, run_.dtype, Category::gradients);
                gradients.fill_zero();
                data_parallel::bind_gradients(bucket, gradients);
            }
            const std::vector<MicroBatch> parts =
                data_parallel::shard_batch(batches_.global(number), run_.ranks, rank, run_.micro_batches);
            result.losses.push_back(
                training::accumulate_gradients(modules_, parts, run_.scaled() ? scale_.scale : 1.0));
        }
        for (const data_parallel::Bucket& bucket : buckets_) data_parallel::bind_gradients(bucket, Tensor());
        const std::vector<Tensor> sums = ring_sums(buckets_, ranks);
        for (const Tensor& sum : sums) result.sums.push_back(to_doubles(sum));
        update(sums, result);
        return result;
    }

  private:
    /// Σ g² of every parameter in every shard, buckets from the first module's to the last's.
    double norm(const std::vector<Tensor>& sums) const
    {
        std::vector<double> terms;
        for (std::size_t b = buckets_.size(); b-- > 0;)
            for (const data_parallel::Segment& segment : data_parallel::segments_of(buckets_[b], run_.ranks))
                terms.push_back(
                    training::sum_of_squares(sums[b].buffer().part(segment.offset, segment.count)));
        return training::global_norm(terms);
    }

    void update(const std::vector<Tensor>& sums, GroupStep& result)
    {
        const double scale = run_.scaled() ? scale_.scale : 1.0;
        if (run_.scaled()) {
            for (const Tensor& sum : sums)
                result.skipped = result.skipped || training::has_overflow(sum.buffer());
            training::update_loss_scale(scale_, result.skipped);
            if (result.skipped) return;
        }
        result.norm = norm(sums) / scale;
        const double factor = training::clip_factor(result.norm, run_.max_norm) / scale;
        for (std::size_t b = 0; b < buckets_.size(); ++b) {
            training::OptimizerStates& states = states_[b];
            Tensor& weights = states.master.empty() ? values_[b] : states.master;
            ++states.step;
            for (const FlatEntry& entry : buckets_[b].entries) {
                const auto part = [&](Tensor& tensor) {
                    return tensor.buffer().part(entry.offset, entry.parameter->elements());
                };
                training::adamw_update(run_.adamw(), states.step, factor, entry.parameter->decays,
                                       sums[b].buffer().part(entry.offset, entry.parameter->elements()),
                                       part(states.m), part(states.v), part(weights));
            }
            if (!states.master.empty()) convert(std::as_const(states.master).buffer(), values_[b].buffer());
        }
    }

    Device device_{DeviceOptions{}};
    TrainingRun run_;
    Batches batches_;
    Modules modules_;
    std::vector<data_parallel::Bucket> buckets_;
    std::vector<Tensor> values_;
    std::vector<training::OptimizerStates> states_;
    training::LossScale scale_;
};

}  // namespace data_parallel_test
