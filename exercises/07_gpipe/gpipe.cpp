#include "lessons/07_gpipe/schedules.hpp"
#include "lib/machine/base/error.hpp"

using namespace pipeline;

Schedule pipeline::gpipe_schedule(int stages, int micro_batches)
{
    check(stages >= 1 && micro_batches >= 1,
          "a schedule of {} stages and {} micro-batches: expected 1 or more of each", stages, micro_batches);
    Schedule schedule{stages, micro_batches, 1, {}};
    // Your code: see lessons/07_gpipe/schedules.hpp (hints: make hint-07 PART=07.1)
    not_implemented("07.1 gpipe_schedule");
    return schedule;
}
