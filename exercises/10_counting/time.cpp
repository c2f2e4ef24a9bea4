#include "lessons/10_counting/time.hpp"

#include <algorithm>

#include "lessons/06_pipeline/stages.hpp"
#include "lessons/10_counting/flops.hpp"
#include "lessons/10_counting/parameters.hpp"
#include "lessons/10_counting/schedule.hpp"
#include "lib/machine/base/error.hpp"

using namespace counting;

namespace {

/// The passes of every chunk, and which stage works longest.
struct Passes {
    StageSeconds seconds;
    std::vector<PassSeconds> work;  // of each stage, of all micro-batches
    std::size_t slowest = 0;
};

Passes passes_of(const Job& job, const Topology& topology)
{
    Passes passes;
    // Your code: see lessons/10_counting/time.hpp (hints: make hint-10 PART=10.7)
    not_implemented("10.7 passes_of");
    return passes;
}

/// How much later than the passes the last of the first stage's reductions ends, where they go on beside
/// them.
double exposed_reductions(const Job& job, const Topology& topology)
{
    double waiting = 0.0;
    // Your code: see lessons/10_counting/time.hpp (hints: make hint-10 PART=10.7)
    not_implemented("10.7 exposed_reductions");
    return waiting;
}

}  // namespace

double counting::bubble_fraction(const Job& job)
{
    double fraction = 0.0;
    // Your code: see lessons/10_counting/time.hpp (hints: make hint-10 PART=10.7)
    not_implemented("10.7 bubble_fraction");
    return fraction;
}

double counting::pipeline_seconds(const Job& job, const StageSeconds& seconds, double message)
{
    // Your code: see lessons/10_counting/time.hpp (hints: make hint-10 PART=10.7)
    not_implemented("10.7 pipeline_seconds");
}

double counting::data_seconds(const Job& job, const Topology& topology)
{
    double seconds = 0.0;
    // Your code: see lessons/10_counting/time.hpp (hints: make hint-10 PART=10.7)
    not_implemented("10.7 data_seconds");
    return seconds;
}

StepTime counting::step_time(const Job& asked, const Topology& topology, bool walks)
{
    StepTime time;
    Job job = asked;
    job.layout.blocks = pipeline::blocks_of(job.shape, job.layout);  // balanced once, not for every pass
    // Your code: see lessons/10_counting/time.hpp (hints: make hint-10 PART=10.7)
    not_implemented("10.7 step_time");
    return time;
}

double counting::model_flops(const Job& job)
{
    Job once = job;
    once.recompute = Recompute::none;
    return hardware_flops(once);
}

double counting::hardware_flops(const Job& job)
{
    double flops = 0.0;
    // Your code: see lessons/10_counting/time.hpp (hints: make hint-10 PART=10.7)
    not_implemented("10.7 hardware_flops");
    return flops;
}
