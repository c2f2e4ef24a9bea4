// 04.2 Buckets: the parameters of a run of modules in one padded buffer, communicated together; and its
// shards.
//
//   bucket 0                              bucket 1                        (degree 2)
//   [ ln_f.weight ln_f.bias | 0 ]         [ wte.weight      wpe.weight ]
//     shard 0     shard 1                   shard 0     shard 1
//
// Values, gradients and optimizer states all use this one layout: plain data parallelism and every ZeRO stage
// cut a bucket at the same places, so they add in the same order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lessons/03_collectives/ring.hpp"
#include "lib/machine/nn/module.hpp"

namespace data_parallel {

using namespace shardlings;
using collectives::Chunk;

/// The parameters of modules [first_module, last_module), in their order, in one buffer.
struct Bucket {
    std::size_t first_module = 0;
    std::size_t last_module = 0;
    std::vector<FlatEntry> entries;
    std::int64_t elements = 0;  // of the parameters
    std::int64_t padded = 0;    // elements and what is missing to a multiple of the degree

    /// The part of the buffer that rank `rank` of `degree` owns: equal parts, in the order of the ranks.
    Chunk shard(int degree, int rank) const { return {padded / degree * rank, padded / degree}; }
};

/// The buckets in the order in which the backward pass finishes them, the last module's first. Modules join a
/// bucket until it has `bucket_bytes` or more in `dtype`: with 1, every module has its own; with more than
/// the model has, there is one. A parameter that several modules use (the tied embedding) is in the bucket of
/// the first of them, whose backward comes last; a module without parameters of its own adds nothing to the
/// bucket it joins, and a bucket that would end without any is left out. Every parameter is in one bucket.
/// Error for bucket_bytes or degree < 1.
std::vector<Bucket> make_buckets(const Modules& modules, int degree, DType dtype, std::int64_t bucket_bytes);

/// The bucket's parameters as views of `values` (the whole bucket, padded elements), or of nothing when it is
/// empty.
void bind_values(const Bucket& bucket, const Tensor& values);
void bind_gradients(const Bucket& bucket, const Tensor& gradients);

/// For each module, the buckets that hold its parameters, in ascending order: one, or two for the head, whose
/// output layer is the tied embedding.
std::vector<std::vector<std::size_t>> buckets_of_modules(const Modules& modules,
                                                         const std::vector<Bucket>& buckets);

/// The elements of one parameter that lie in one shard.
struct Segment {
    const Parameter* parameter;
    int owner;                      // rank of the shard
    std::int64_t offset;            // of its first element in the bucket
    std::int64_t count;             // at least 1
    std::int64_t parameter_offset;  // of the parameter's first element in the bucket
};

/// The segments of a bucket in the one order in which the global norm adds them: by parameter, then by owner.
/// The padding is in none.
std::vector<Segment> segments_of(const Bucket& bucket, int degree);

}  // namespace data_parallel
