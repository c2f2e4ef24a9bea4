#include "lib/tools/schedule/named.hpp"

#include "lessons/07_gpipe/schedules.hpp"
#include "lib/machine/base/error.hpp"

namespace shardlings {

namespace {

std::string counted(int number, const char* one, const char* many)
{
    return fmt::format("{} {}", number, number == 1 ? one : many);
}

}  // namespace

pipeline::Schedule make_schedule(std::string_view name, int stages, int micro_batches, int chunks)
{
    check(chunks == 1 || name == "interleaved", "--virtual-stages {} needs --schedule interleaved", chunks);
    if (name == "naive") return pipeline::naive_schedule(stages, micro_batches);
    if (name == "gpipe") return pipeline::gpipe_schedule(stages, micro_batches);
    if (name == "1f1b") return pipeline::one_forward_one_backward_schedule(stages, micro_batches);
    check(name == "interleaved", "--schedule is '{}': expected naive, gpipe, 1f1b or interleaved", name);
    return pipeline::interleaved_schedule(stages, micro_batches, chunks);
}

std::string title_of_schedule(std::string_view name, int stages, int micro_batches, int chunks)
{
    return fmt::format("{}: {}{}, {}", name, counted(stages, "stage", "stages"),
                       chunks > 1 ? fmt::format(" of {} chunks", chunks) : "",
                       counted(micro_batches, "micro-batch", "micro-batches"));
}

}  // namespace shardlings
