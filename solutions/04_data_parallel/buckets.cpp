#include "lessons/04_data_parallel/buckets.hpp"

#include <algorithm>
#include <set>
#include <utility>

using namespace data_parallel;

std::vector<Bucket> data_parallel::make_buckets(const Modules& modules, int degree, DType dtype,
                                                std::int64_t bucket_bytes)
{
    check(bucket_bytes >= 1, "--bucket-bytes is {}: expected 1 or more (1: a bucket for every module)",
          bucket_bytes);
    check(degree >= 1, "buckets for {} ranks: expected 1 or more", degree);
    std::vector<Bucket> buckets;
    // BEGIN SOLUTION 04.2 make_buckets
    std::vector<std::vector<Parameter*>> owned(modules.size());
    std::set<Parameter*> seen;
    for (std::size_t i = 0; i < modules.size(); ++i)
        for (Parameter* parameter : modules[i]->parameters())
            if (seen.insert(parameter).second) owned[i].push_back(parameter);

    const auto close = [&](std::size_t first, std::size_t last) {
        Bucket bucket{first, last, {}, 0, 0};
        for (std::size_t i = first; i < last; ++i)
            for (Parameter* parameter : owned[i]) {
                bucket.entries.push_back({parameter, bucket.elements});
                bucket.elements += parameter->elements();
            }
        bucket.padded = (bucket.elements + degree - 1) / degree * degree;
        if (bucket.elements > 0) buckets.push_back(std::move(bucket));
    };
    std::size_t last = modules.size();
    std::int64_t bytes = 0;
    for (std::size_t i = modules.size(); i-- > 0;) {
        for (const Parameter* parameter : owned[i])
            bytes += parameter->elements() * static_cast<std::int64_t>(size_of(dtype));
        if (bytes < bucket_bytes && i > 0) continue;
        close(i, last);
        last = i;
        bytes = 0;
    }
    // END SOLUTION
    return buckets;
}

void data_parallel::bind_values(const Bucket& bucket, const Tensor& values)
{
    for (const FlatEntry& entry : bucket.entries)
        entry.parameter->value =
            values.empty() ? Tensor() : values.view(entry.offset, entry.parameter->slice.shape);
}

void data_parallel::bind_gradients(const Bucket& bucket, const Tensor& gradients)
{
    for (const FlatEntry& entry : bucket.entries)
        entry.parameter->gradient =
            gradients.empty() ? Tensor() : gradients.view(entry.offset, entry.parameter->slice.shape);
}

std::vector<std::vector<std::size_t>> data_parallel::buckets_of_modules(const Modules& modules,
                                                                        const std::vector<Bucket>& buckets)
{
    std::vector<std::vector<std::size_t>> used(modules.size());
    for (std::size_t i = 0; i < modules.size(); ++i) {
        const std::vector<Parameter*> parameters = modules[i]->parameters();
        for (std::size_t b = 0; b < buckets.size(); ++b)
            if (std::ranges::any_of(buckets[b].entries, [&](const FlatEntry& entry) {
                    return std::ranges::find(parameters, entry.parameter) != parameters.end();
                }))
                used[i].push_back(b);
    }
    return used;
}

std::vector<Segment> data_parallel::segments_of(const Bucket& bucket, int degree)
{
    std::vector<Segment> segments;
    // BEGIN SOLUTION 04.2 segments_of
    for (const FlatEntry& entry : bucket.entries)
        for (int owner = 0; owner < degree; ++owner) {
            const Chunk shard = bucket.shard(degree, owner);
            const std::int64_t begin = std::max(entry.offset, shard.offset);
            const std::int64_t end =
                std::min(entry.offset + entry.parameter->elements(), shard.offset + shard.count);
            if (begin < end) segments.push_back({entry.parameter, owner, begin, end - begin, entry.offset});
        }
    // END SOLUTION
    return segments;
}
