// The single process beside pipelines of 2, 3, 4, 6 and 8 stages: in how many elements do losses, norms,
// parameters and optimizer states differ after 5 steps with clipping?
#include <map>
#include <string>

#include "lessons/06_pipeline/run.hpp"

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

/// A run, and what it ends with, by the parameter's name.
struct Run {
    std::vector<double> reports;  // loss and norm of each step
    std::map<std::string, std::vector<double>> values;
    std::map<std::string, std::vector<double>> m;

    Run(const Comm& comm, const TrainOptions& options)
    {
        Trainer trainer(comm, options);
        for (std::int64_t step = 1; step <= options.steps; ++step) {
            const RandomBatch batch(options.batch, options.shape.sequence, step);
            const StepReport report = trainer.step(batch.view(), step);
            reports.push_back(report.loss);
            reports.push_back(report.gradient_norm);
        }
        const auto& buckets = *trainer.replica().buckets;
        for (std::size_t b = 0; b < buckets.size(); ++b) {
            const std::vector<double> all = to_doubles(trainer.replica().optimizer->states(b).m);
            for (const FlatEntry& entry : buckets[b].entries) {
                values[entry.parameter->name] = to_doubles(entry.parameter->value);
                m[entry.parameter->name] = {all.begin() + entry.offset,
                                            all.begin() + entry.offset + entry.parameter->elements()};
            }
        }
    }
};

double count_different(const std::vector<double>& a, const std::vector<double>& b)
{
    double different = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) different += a[i] == b[i] ? 0.0 : 1.0;
    return different;
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        if (session.rank() == 0) fmt::print("             elements that differ      of\n");
        for (const DType dtype : {DType::fp32, DType::bf16})
            for (const int stages : {2, 3, 4, 6, 8})
                on_grid(session, run_in(dtype, stages), [&](Comm& comm) {
                    const Run own(comm, run_in(dtype, stages));
                    const Run single(comm.split(comm.rank(), 0), run_in(dtype, 1));
                    double different = count_different(own.reports, single.reports);
                    auto count = static_cast<double>(own.reports.size());
                    for (const auto& [name, values] : own.values) {
                        different += count_different(values, single.values.at(name));
                        different += count_different(own.m.at(name), single.m.at(name));
                        count += 2.0 * static_cast<double>(values.size());
                    }
                    double all_different = 0.0;
                    double all = 0.0;
                    for (const auto& numbers : gather_numbers(comm, {different, count})) {
                        all_different += numbers[0];
                        all += numbers[1];
                    }
                    if (comm.rank() == 0)
                        fmt::print("{}, P = {}{:>22}{:>8}\n", name_of(dtype), stages,
                                   all_different == 0.0 ? "0" : fmt::format("{}", all_different), all);
                });
        return 0;
    });
}
