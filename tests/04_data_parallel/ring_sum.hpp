// The sum of all ranks' buffers, every chunk in the order in which lesson 03's ring adds it.
#pragma once

#include <vector>

#include "lessons/04_data_parallel/buckets.hpp"
#include "lib/machine/tensor/arithmetic.hpp"

namespace data_parallel_test {

using namespace shardlings;

/// Chunk c, rank c's shard, is ((rank c + 1's + rank c + 2's) + …) + rank c's (mod p), each sum rounded to
/// the dtype. One tensor of the bucket's padded elements a rank.
inline Tensor ring_sum(const data_parallel::Bucket& bucket, const std::vector<const Tensor*>& ranks)
{
    const int p = static_cast<int>(ranks.size());
    Tensor sum = make_like(*ranks[0], Category::gradients);
    for (int owner = 0; owner < p; ++owner) {
        const data_parallel::Chunk chunk = bucket.shard(p, owner);
        const auto of_rank = [&](int rank) {
            return ranks[static_cast<std::size_t>(rank % p)]->buffer().part(chunk.offset, chunk.count);
        };
        const Buffer total = sum.buffer().part(chunk.offset, chunk.count);
        convert(of_rank(owner + 1), total);
        for (int i = 2; i <= p; ++i) add(of_rank(owner + i), total);
    }
    return sum;
}

/// The same for every bucket: ranks[r][b] is rank r's.
inline std::vector<Tensor> ring_sums(const std::vector<data_parallel::Bucket>& buckets,
                                     const std::vector<std::vector<Tensor>>& ranks)
{
    std::vector<Tensor> sums;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        std::vector<const Tensor*> of_bucket;
        for (const std::vector<Tensor>& rank : ranks) of_bucket.push_back(&rank[b]);
        sums.push_back(ring_sum(buckets[b], of_bucket));
    }
    return sums;
}

}  // namespace data_parallel_test
