#include <algorithm>

#include "lessons/07_gpipe/schedules.hpp"
#include "lib/machine/base/error.hpp"

using namespace pipeline;

Schedule pipeline::one_forward_one_backward_schedule(int stages, int micro_batches)
{
    check(stages >= 1 && micro_batches >= 1,
          "a schedule of {} stages and {} micro-batches: expected 1 or more of each", stages, micro_batches);
    Schedule schedule{stages, micro_batches, 1, {}};
    // BEGIN SOLUTION 07.2 one_forward_one_backward_schedule
    for (int stage = 0; stage < stages; ++stage) {
        Program program;
        const int warm_up = std::min(micro_batches, stages - stage - 1);
        for (int m = 0; m < warm_up; ++m) append_pass(schedule, stage, Action::forward, m, 0, program);
        for (int m = 0; m < micro_batches; ++m) {
            if (warm_up + m < micro_batches)
                append_pass(schedule, stage, Action::forward, warm_up + m, 0, program);
            append_pass(schedule, stage, Action::backward, m, 0, program);
        }
        schedule.programs.push_back(program);
    }
    // END SOLUTION
    return schedule;
}
