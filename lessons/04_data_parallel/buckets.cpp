// The buckets of a small model on 4 ranks: which parameters, where, how padded, and whose shard is what.
#include <exception>

#include "lessons/01_transformer/model.hpp"
#include "lessons/04_data_parallel/buckets.hpp"

using namespace data_parallel;

namespace {

constexpr int degree = 4;

void print(std::size_t number, const Bucket& bucket)
{
    fmt::print("bucket {}: modules {} to {}, {} elements + {} of padding\n", number, bucket.last_module - 1,
               bucket.first_module, bucket.elements, bucket.padded - bucket.elements);
    const std::vector<Segment> segments = segments_of(bucket, degree);
    for (const FlatEntry& entry : bucket.entries) {
        fmt::print("  {:>5} {:<22}", entry.offset, entry.parameter->name);
        for (const Segment& segment : segments)
            if (segment.parameter == entry.parameter)
                fmt::print("  rank {}: {}", segment.owner, segment.count);
        fmt::print("\n");
    }
    for (int rank = 0; rank < degree; ++rank) {
        const Chunk shard = bucket.shard(degree, rank);
        fmt::print("{}rank {} [{}, {})", rank == 0 ? "  shards: " : ", ", rank, shard.offset,
                   shard.offset + shard.count);
    }
    fmt::print("\n");
}

}  // namespace

int main()
try {
    const Modules gpt =
        transformer::make_gpt({.layers = 1, .hidden = 6, .heads = 2, .sequence = 5, .vocabulary = 12});
    const std::vector<Bucket> buckets = make_buckets(gpt, degree, DType::fp32, 100);
    for (std::size_t b = 0; b < buckets.size(); ++b) print(b, buckets[b]);
} catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
