#include "lessons/04_data_parallel/batch_shard.hpp"

#include "lessons/02_training_step/accumulation.hpp"

using namespace data_parallel;

std::vector<MicroBatch> data_parallel::shard_batch(const MicroBatch& global, int degree, int rank,
                                                   std::int64_t micro_batches)
{
    check(
        degree >= 1 && micro_batches >= 1 && global.sequences % (degree * micro_batches) == 0,
        "a global batch of {} sequences cannot be cut for {} data-parallel ranks of {} micro-batches: choose "
        "--batch divisible by --dp times --microbatches",
        global.sequences, degree, micro_batches);
    std::vector<MicroBatch> own;
    // BEGIN SOLUTION 04.1 shard_batch
    const std::vector<MicroBatch> all = training::split_batch(global, degree * micro_batches);
    own.assign(all.begin() + rank * micro_batches, all.begin() + (rank + 1) * micro_batches);
    for (std::size_t i = 0; i < own.size(); ++i) own[i].index = static_cast<std::int64_t>(i);
    // END SOLUTION
    return own;
}
