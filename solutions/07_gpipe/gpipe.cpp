#include "lessons/07_gpipe/schedules.hpp"
#include "lib/machine/base/error.hpp"

using namespace pipeline;

Schedule pipeline::gpipe_schedule(int stages, int micro_batches)
{
    check(stages >= 1 && micro_batches >= 1,
          "a schedule of {} stages and {} micro-batches: expected 1 or more of each", stages, micro_batches);
    Schedule schedule{stages, micro_batches, 1, {}};
    // BEGIN SOLUTION 07.1 gpipe_schedule
    for (int stage = 0; stage < stages; ++stage) {
        Program program;
        for (const Action pass : {Action::forward, Action::backward})
            for (int m = 0; m < micro_batches; ++m) append_pass(schedule, stage, pass, m, 0, program);
        schedule.programs.push_back(program);
    }
    // END SOLUTION
    return schedule;
}
