// Every schedule beside the single process that accumulates the same micro-batches, two steps with
// clipping, with and without recomputation: in how many elements do losses, norms, parameters and first
// moments differ?
#include <cmath>
#include <map>
#include <string>

#include "lessons/06_pipeline/compare.hpp"

using namespace lesson;

namespace {

struct Case {
    DType dtype;
    int stages;
    std::int64_t micro_batches;
    std::string schedule;
    bool recompute;
};

TrainOptions options_of(const Case& c)
{
    TrainOptions options = pipeline_run(c.stages);
    options.shape = {8, 32, 2, 8, 256};
    options.batch = 8;
    options.micro_batches = c.micro_batches;
    options.steps = 2;
    options.dtype = c.dtype;
    options.recompute = c.recompute;
    options.adamw.learning_rate = 0.003;
    options.layout.schedule = c.schedule;
    options.layout.virtual_stages = c.schedule == "interleaved" ? 2 : 1;
    return options;
}

/// A row: a dtype and P; M = 1, 4 and 8 as far as the schedule can have it.
void print_row(MpiSession& session, DType dtype, int stages)
{
    std::string row = fmt::format("{}, P = {}", name_of(dtype), stages);
    double elements = 0.0;
    std::map<std::int64_t, Run> singles;  // by M
    for (const std::string schedule : {"naive", "gpipe", "1f1b", "interleaved"})
        for (const bool recompute : {false, true}) {
            Comparison sum;
            for (const std::int64_t m : {1, 4, 8}) {
                if (schedule == "interleaved" && (m % stages != 0 || 2 * stages > 8)) continue;
                const Case one{dtype, stages, m, schedule, recompute};
                on_grid(session, options_of(one), [&](Comm& comm) {
                    if (!singles.contains(m))
                        singles.try_emplace(m, comm.split(comm.rank(), 0),
                                            options_of({dtype, 1, m, "gpipe", false}));
                    const Comparison c = compare_with_single(comm, options_of(one), singles.at(m));
                    sum.different += c.different;
                    sum.elements += c.elements;
                });
            }
            elements += sum.elements;
            row += fmt::format("{:>7}", sum.elements > 0.0 ? fmt::format("{}", sum.different) : "-");
        }
    if (session.rank() == 0) fmt::print("{}   of {} million\n", row, std::round(elements / 1e5) / 10.0);
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        if (session.rank() == 0)
            fmt::print(
                "                naive         gpipe          1f1b     interleaved\n"
                "recomputing     no    yes     no    yes     no    yes     no    yes\n");
        for (const DType dtype : {DType::fp32, DType::bf16})
            for (const int stages : {2, 3, 4, 6, 8}) print_row(session, dtype, stages);
        return 0;
    });
}
