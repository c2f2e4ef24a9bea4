// 05.2 to 05.4 ZeRO: each stage shards one more part of lesson 04's replica.
#pragma once

#include "lessons/04_data_parallel/replica.hpp"

namespace zero {

using namespace shardlings;
using namespace data_parallel;

/// How stage 3 brings a bucket together: one broadcast of each shard by its owner, or one all-gather.
enum class Fetch { broadcast, all_gather };

struct ZeroOptions {
    Fetch fetch = Fetch::all_gather;
    /// Full gradient buckets that may be there at once in stages 2 and 3, beside those that still grow: the
    /// next one is allocated only when fewer are being reduced. 1: the reduction is waited for; 2: it
    /// overlaps the next bucket.
    int gradient_buckets = 1;
    /// With several micro-batches in stages 2 and 3. false: full gradients are kept until the last one, so
    /// that the sums are bitwise those of plain data parallelism; true: each micro-batch's are reduced and
    /// added to the shard, which sends once a micro-batch and never holds them all.
    bool accumulate_in_shards = false;
};

/// 05.2 Stage 1: every rank has the states of its shard of every bucket, Bucket::shard(degree, rank), and
/// updates that. The norm's terms are summed over group.control by recursive doubling (a sum with zeros:
/// exact), then the shards of the values are gathered.
std::unique_ptr<Optimizer> make_sharded_optimizer(Group& group, const std::vector<Bucket>& buckets,
                                                  ParameterValues& values, Gradients& gradients);

/// 05.3 Stage 2: a shard of every bucket's gradients is held. A bucket's full gradients are allocated when
/// the first module that adds to them begins its backward pass (the head, for the tied embedding) and
/// reduce-scattered over group.data when its last one has ended it (see make_bucket_gradients); the own chunk
/// is kept and the rest freed as soon as that is done, which the next bucket's allocation or finish() waits
/// for.
std::unique_ptr<Gradients> make_sharded_gradients(Group& group, const Modules& modules,
                                                  const std::vector<Bucket>& buckets,
                                                  const ReplicaOptions& options,
                                                  const ZeroOptions& zero_options);

/// 05.4 Stage 3: a shard of every bucket's values is held, initialised to its part of the whole. The buckets
/// of a module's parameters are fetched before its pass, while that of the pass that follows is fetched
/// beside it, and freed after it unless the next pass needs them too (the head's backward follows its
/// forward). A backward pass that reads no values (Module::backward_reads_values) fetches none. So at most
/// two buckets are there at once, or three where the head needs the tied embedding beside its own.
std::unique_ptr<ParameterValues> make_sharded_values(Group& group, const Modules& modules,
                                                     const std::vector<Bucket>& buckets,
                                                     const ReplicaOptions& options, Fetch fetch);

/// Stage 0 is lesson 04's replica; 1 to 3 shard the optimizer states, then the gradients, then the values.
/// Error for another stage. Wrap the modules with make_hooked afterwards.
Replica make_zero_replica(int stage, Group& group, const Modules& modules, const ReplicaOptions& options,
                          const ZeroOptions& zero_options);

}  // namespace zero
