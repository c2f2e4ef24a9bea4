// The exercise of the lesson's page: 175B parameters on PP 16 x DP 8 x TP 8, the bytes of each kind of
// device.
#include <fmt/core.h>

#include <numeric>

#include "lessons/10_counting/parameters.hpp"
#include "lessons/10_counting/states.hpp"

using namespace shardlings;

int main()
{
    counting::Job job;
    job.shape = {96, 12288, 96, 2048, 50257};
    job.layout = {.pp = 16, .dp = 8, .tp = 8, .schedule = "1f1b"};
    job.dtype = DType::bf16;
    job.batch = 512;
    job.micro_batches = 64;
    fmt::print("{:<7}{:>5}{:>14}{:>14}{:>14}{:>18}{:>14}\n", "stage", "ZeRO", "elements", "parameters",
               "gradients", "optimizer states", "bytes");
    for (const int stage : {0, 1, 15})
        for (const int zero : {0, 1, 2, 3}) {
            job.layout.zero = zero;
            const auto buckets = counting::bucket_elements(job, {stage, 0});
            const counting::StateBytes bytes = counting::state_bytes(job, {stage, 0});
            fmt::print("{:<7}{:>5}{:>14}{:>14}{:>14}{:>18}{:>14}\n", stage, zero,
                       std::accumulate(buckets.begin(), buckets.end(), std::int64_t{0}), bytes.parameters,
                       bytes.gradients, bytes.optimizer_states, bytes.total());
        }
}
