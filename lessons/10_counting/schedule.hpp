// The pipeline schedule of a job. Given.
#pragma once

#include "lessons/07_gpipe/schedules.hpp"
#include "lessons/10_counting/job.hpp"

namespace counting {

/// Of one stage: all forward and backward passes of a micro-batch, one micro-batch after the other.
inline pipeline::Schedule schedule_of(const Job& job)
{
    const Layout& layout = job.layout;
    const int micro_batches = static_cast<int>(job.micro_batches);
    if (layout.pp == 1 || layout.schedule == "naive")
        return pipeline::naive_schedule(layout.pp, micro_batches);
    if (layout.schedule == "gpipe") return pipeline::gpipe_schedule(layout.pp, micro_batches);
    if (layout.schedule == "1f1b")
        return pipeline::one_forward_one_backward_schedule(layout.pp, micro_batches);
    return pipeline::interleaved_schedule(layout.pp, micro_batches, layout.virtual_stages);
}

}  // namespace counting
