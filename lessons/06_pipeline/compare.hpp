// Two runs of the page's programs, compared element by element.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lessons/06_pipeline/run.hpp"

namespace lesson {

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

inline double count_different(const std::vector<double>& a, const std::vector<double>& b)
{
    double different = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) different += a[i] == b[i] ? 0.0 : 1.0;
    return different;
}

struct Comparison {
    double different = 0.0;
    double elements = 0.0;
};

/// Over all ranks of `comm`, on rank 0: in how many losses, norms, parameters and first moments `options`
/// gives something else than `single`, which every rank runs by itself.
inline Comparison compare_with_single(Comm& comm, const TrainOptions& options, const Run& single)
{
    const Run own(comm, options);
    double different = count_different(own.reports, single.reports);
    auto elements = static_cast<double>(own.reports.size());
    for (const auto& [name, values] : own.values) {
        different += count_different(values, single.values.at(name));
        different += count_different(own.m.at(name), single.m.at(name));
        elements += 2.0 * static_cast<double>(values.size());
    }
    Comparison all;
    for (const auto& numbers : gather_numbers(comm, {different, elements})) {
        all.different += numbers[0];
        all.elements += numbers[1];
    }
    return all;
}

}  // namespace lesson
