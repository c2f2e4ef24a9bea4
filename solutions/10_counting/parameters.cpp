#include "lessons/10_counting/parameters.hpp"

#include "lessons/03_collectives/ring.hpp"
#include "lessons/06_pipeline/stages.hpp"

using namespace counting;

RoughParameters counting::rough_parameters(const ModelShape& shape)
{
    // BEGIN SOLUTION 10.1 rough_parameters
    const auto h = static_cast<double>(shape.hidden);
    const auto layers = static_cast<double>(shape.layers);
    return {4.0 * h * h * layers, 8.0 * h * h * layers, static_cast<double>(shape.vocabulary) * h,
            static_cast<double>(shape.sequence) * h};
    // END SOLUTION
}

std::int64_t counting::blocks_of_stage(const Job& job, int stage)
{
    const Layout& layout = job.layout;
    const std::vector<std::int64_t> blocks = pipeline::blocks_of(job.shape, layout);
    std::int64_t sum = 0;
    for (std::size_t chunk = static_cast<std::size_t>(stage); chunk < blocks.size();
         chunk += static_cast<std::size_t>(layout.pp))
        sum += blocks[chunk];
    return sum;
}

std::int64_t counting::vocabulary_of_rank(const Job& job, int tensor_rank)
{
    return collectives::chunk_of(job.shape.vocabulary, job.layout.tp, tensor_rank).count;
}

std::vector<std::int64_t> counting::bucket_elements(const Job& job, const Place& place)
{
    std::vector<std::int64_t> buckets;
    // BEGIN SOLUTION 10.1 bucket_elements
    const std::int64_t h = job.shape.hidden;
    const std::int64_t tokens = vocabulary_of_rank(job, place.tensor_rank) * h;
    const std::int64_t positions = job.shape.sequence * h;
    const int stages = job.layout.pp;
    const bool first = place.stage == 0;
    const bool last = place.stage == stages - 1;
    if (stages == 1) {
        buckets.push_back(tokens + positions);
    } else if (first || last) {
        buckets.push_back(tokens);
        if (first) buckets.push_back(positions);
    }
    // Cut: c_attn 3h² + 3h, attention's c_proj h², c_fc 4h² + 4h, the MLP's c_proj 4h². On every rank: two
    // layer norms 4h, the biases of the two c_proj 2h.
    const std::int64_t block = (12 * h * h + 7 * h) / job.layout.tp + 6 * h;
    buckets.insert(buckets.end(), static_cast<std::size_t>(blocks_of_stage(job, place.stage)), block);
    if (last) buckets.push_back(2 * h);
    // END SOLUTION
    return buckets;
}
