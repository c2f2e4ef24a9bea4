#include "lib/tools/schedule/named.hpp"

#include "lessons/07_gpipe/schedules.hpp"
#include "lib/machine/base/error.hpp"

namespace shardlings {

pipeline::Schedule make_schedule(std::string_view name, int stages, int micro_batches, int chunks)
{
    check(chunks == 1 || name == "interleaved", "--virtual-stages {} needs --schedule interleaved", chunks);
    if (name == "naive") return pipeline::naive_schedule(stages, micro_batches);
    if (name == "gpipe") return pipeline::gpipe_schedule(stages, micro_batches);
    if (name == "1f1b") return pipeline::one_forward_one_backward_schedule(stages, micro_batches);
    check(name == "interleaved", "--schedule is '{}': expected naive, gpipe, 1f1b or interleaved", name);
    return pipeline::interleaved_schedule(stages, micro_batches, chunks);
}

}  // namespace shardlings
