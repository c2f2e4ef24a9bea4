#include "lessons/04_data_parallel/buckets.hpp"
#include "lib/machine/base/error.hpp"

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
    // Your code: see lessons/04_data_parallel/buckets.hpp (hints: make hint-04 PART=04.2)
    not_implemented("04.2 make_buckets");
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
    // Your code: see lessons/04_data_parallel/buckets.hpp (hints: make hint-04 PART=04.2)
    not_implemented("04.2 segments_of");
    return segments;
}
