// A plausible estimate of what a stage of 1F1B needs, beside this lesson's.
#include <fmt/core.h>

#include "lessons/10_counting/activations.hpp"
#include "lessons/10_counting/states.hpp"

using namespace shardlings;

namespace {

// BEGIN wrong_estimate
/// A device has its share of the model and works on one micro-batch at a time.
std::int64_t wrong_estimate(const counting::Job& job)
{
    const std::int64_t devices = job.layout.pp * job.layout.tp;
    const std::int64_t states = 16 * job.shape.parameters() / devices;
    return states + job.shape.layers / job.layout.pp * counting::saved_by_block(job);
}
// END wrong_estimate

}  // namespace

int main()
{
    counting::Job job;
    job.shape = {8, 64, 4, 64, 256};
    job.layout = {.pp = 4, .schedule = "1f1b"};
    job.batch = 16;
    job.micro_batches = 8;
    fmt::print("stage  wrong estimate      states  in flight  of a micro-batch  activations         sum\n");
    for (int stage = 0; stage < job.layout.pp; ++stage) {
        const std::int64_t states = counting::state_bytes(job, {stage, 0}).total();
        const std::int64_t saved = counting::saved_activations(job, {stage, 0});
        fmt::print("{:>5}{:>16}{:>12}{:>11}{:>18}{:>13}{:>12}\n", stage, wrong_estimate(job), states,
                   counting::passes_in_flight(job, stage), counting::saved_by_chunk(job, {stage, 0}, 0),
                   saved, states + saved);
    }
}
