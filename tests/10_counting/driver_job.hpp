// The job that a case is about, and what is counted of each device of its grid.
#pragma once

#include <utility>

#include "lessons/10_counting/job.hpp"
#include "lib/tools/grade/driver.hpp"

namespace counting_test {

using namespace grade;

inline ModelShape shape_of(Case& c)
{
    return {c.integer("layers"), c.integer("hidden"), c.integer("heads"), c.integer("sequence"),
            c.integer("vocabulary")};
}

inline counting::Job job_of(Case& c)
{
    const auto degree = [&](const char* name) { return static_cast<int>(c.integer(name)); };
    const std::vector<double> blocks = c.numbers("blocks");
    counting::Job job;
    job.shape = shape_of(c);
    job.layout.pp = degree("pp");
    job.layout.dp = degree("dp");
    job.layout.tp = degree("tp");
    job.layout.zero = degree("zero");
    job.layout.schedule = c.text("schedule");
    job.layout.virtual_stages = degree("virtual_stages");
    job.layout.blocks.assign(blocks.begin(), blocks.end());
    job.layout.sequence_parallel = c.flag("sequence_parallel");
    job.dtype = parse_dtype(c.text("dtype"));
    job.batch = c.integer("batch");
    job.micro_batches = c.integer("micro_batches");
    job.recompute = static_cast<counting::Recompute>(c.integer("recompute"));
    return job;
}

template <class Integers>
std::vector<double> as_numbers(const Integers& integers)
{
    return {integers.begin(), integers.end()};
}

/// Puts count(job, place), a vector of numbers, for every device: "STAGE TENSOR_RANK".
template <class Count>
Operation on_every_place(Count count)
{
    return [count](Case& c) {
        const counting::Job job = job_of(c);
        for (int stage = 0; stage < job.layout.pp; ++stage)
            for (int rank = 0; rank < job.layout.tp; ++rank)
                c.put(fmt::format("{} {}", stage, rank), std::vector<double>(count(job, {stage, rank})));
    };
}

}  // namespace counting_test
