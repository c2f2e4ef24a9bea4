// The single process beside pipelines of 2, 3, 4, 6 and 8 stages: in how many elements do losses, norms,
// parameters and optimizer states differ after 5 steps with clipping?
#include "lessons/06_pipeline/compare.hpp"

using namespace lesson;

namespace {

TrainOptions run_in(DType dtype, int stages)
{
    TrainOptions options = pipeline_run(stages);
    options.shape = {8, 32, 2, 8, 256};
    options.batch = 4;
    options.steps = 5;
    options.dtype = dtype;
    options.adamw.learning_rate = 0.003;
    return options;
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        if (session.rank() == 0) fmt::print("             elements that differ      of\n");
        for (const DType dtype : {DType::fp32, DType::bf16})
            for (const int stages : {2, 3, 4, 6, 8})
                on_grid(session, run_in(dtype, stages), [&](Comm& comm) {
                    const Run single(comm.split(comm.rank(), 0), run_in(dtype, 1));
                    const Comparison all = compare_with_single(comm, run_in(dtype, stages), single);
                    if (comm.rank() == 0)
                        fmt::print("{}, P = {}{:>22}{:>8}\n", name_of(dtype), stages, all.different,
                                   all.elements);
                });
        return 0;
    });
}
