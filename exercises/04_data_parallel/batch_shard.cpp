#include "lessons/04_data_parallel/batch_shard.hpp"

#include "lessons/02_training_step/accumulation.hpp"
#include "lib/machine/base/error.hpp"

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
    // Your code: see lessons/04_data_parallel/batch_shard.hpp (hints: make hint-04 PART=04.1)
    not_implemented("04.1 shard_batch");
    return own;
}
