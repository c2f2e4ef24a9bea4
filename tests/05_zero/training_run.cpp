#include "tests/05_zero/training_run.hpp"

#include <utility>

#include "lessons/02_training_step/accumulation.hpp"
#include "lessons/04_data_parallel/batch_shard.hpp"
#include "lib/machine/tensor/arithmetic.hpp"
#include "tests/05_zero/held.hpp"
#include "tests/05_zero/sums.hpp"
#include "tests/05_zero/tokens.hpp"

namespace zero_test {

std::string TrainingCase::name() const
{
    return fmt::format("--zero {} --dp {} --dtype {} --bucket-bytes {} --microbatches {}{}{}{}{}{}", stage,
                       degree, shardlings::name_of(dtype), bucket_bytes, micro_batches,
                       gradient_buckets > 1 ? fmt::format(" --gradient-buckets {}", gradient_buckets) : "",
                       accumulate_in_shards ? ", accumulated in shards" : "",
                       broadcast ? ", fetched by broadcast" : "", recompute ? ", recomputed" : "",
                       overlap ? "" : ", no overlap");
}

PlainRun::PlainRun(const TrainingCase& one)
    : modules(transformer::make_gpt(small_gpt)),
      buckets(data_parallel::make_buckets(modules, one.degree, one.dtype, one.bucket_bytes)),
      losses(static_cast<std::size_t>(one.degree))
{
    for (const Bucket& bucket : buckets) {
        values.tensors.push_back(
            initial_values(device, bucket, one.dtype, static_cast<std::uint64_t>(one.seed)));
        data_parallel::bind_values(bucket, values.tensors.back());
        gradients.tensors.emplace_back(device, Shape{bucket.padded}, one.dtype, Category::gradients);
    }
    optimizer = data_parallel::make_replicated_optimizer(buckets, one.degree, values, gradients);
    training::LossScale scale;
    scale.scale = one.first_scale();
    scale.growth_interval = 3;
    for (std::int64_t step = 0; step < one.steps; ++step) {
        sum_gradients(one, step, scale.scale);
        const auto result = optimizer->update(adamw, one.max_norm, one.scaled() ? &scale : nullptr);
        updates.add(result, scale);
    }
}

void PlainRun::sum_gradients(const TrainingCase& one, std::int64_t step, double scale)
{
    const Tokens tokens(small_gpt, one.sequences(), static_cast<std::uint64_t>(one.seed), step);
    for (Tensor& sum : gradients.tensors) sum.fill_zero();
    for (std::vector<double>& of_rank : losses) of_rank.push_back(0.0);
    const std::int64_t rounds = one.accumulate_in_shards ? one.micro_batches : 1;
    const auto batches = static_cast<std::size_t>(one.micro_batches / rounds);  // in a round
    for (std::size_t round = 0; round < static_cast<std::size_t>(rounds); ++round) {
        std::vector<std::vector<Tensor>> of_ranks(buckets.size());
        for (int rank = 0; rank < one.degree; ++rank) {
            for (std::size_t b = 0; b < buckets.size(); ++b) {
                Tensor& own = of_ranks[b].emplace_back(device, Shape{buckets[b].padded}, one.dtype,
                                                       Category::gradients);
                own.fill_zero();
                data_parallel::bind_gradients(buckets[b], own);
            }
            const std::vector<MicroBatch> own =
                data_parallel::shard_batch(tokens.global(), one.degree, rank, one.micro_batches);
            losses[static_cast<std::size_t>(rank)].back() += training::accumulate_gradients(
                modules, std::span(own).subspan(round * batches, batches), scale);
        }
        for (std::size_t b = 0; b < buckets.size(); ++b) add(ring_sum(of_ranks[b]), gradients.tensors[b]);
    }
}

}  // namespace zero_test
