#include <algorithm>

#include "lessons/07_gpipe/schedules.hpp"
#include "lib/machine/base/error.hpp"

using namespace pipeline;

Schedule pipeline::interleaved_schedule(int stages, int micro_batches, int chunks)
{
    check(stages >= 1 && micro_batches >= 1 && chunks >= 1,
          "a schedule of {} stages, {} micro-batches and {} chunks a stage: expected 1 or more of each",
          stages, micro_batches, chunks);
    if (chunks == 1) return one_forward_one_backward_schedule(stages, micro_batches);
    check(stages > 1, "{} chunks on one stage: interleaving needs --pp 2 or more", chunks);
    check(micro_batches % stages == 0,
          "the interleaved schedule needs a multiple of {} micro-batches, as many as stages: {} is none",
          stages, micro_batches);
    Schedule schedule{stages, micro_batches, chunks, {}};
    // BEGIN SOLUTION 07.3 interleaved_schedule
    const int passes = micro_batches * chunks;
    const auto append = [&](int stage, Action pass, int k, Program& program) {
        const int group = stages * chunks;
        const int chunk = k % group / stages;
        append_pass(schedule, stage, pass, k / group * stages + k % stages,
                    pass == Action::forward ? chunk : chunks - 1 - chunk, program);
    };
    for (int stage = 0; stage < stages; ++stage) {
        Program program;
        const int warm_up = std::min(passes, 2 * (stages - stage - 1) + (chunks - 1) * stages);
        for (int k = 0; k < warm_up; ++k) append(stage, Action::forward, k, program);
        for (int k = 0; k < passes; ++k) {
            if (warm_up + k < passes) append(stage, Action::forward, warm_up + k, program);
            append(stage, Action::backward, k, program);
        }
        schedule.programs.push_back(program);
    }
    // END SOLUTION
    return schedule;
}
