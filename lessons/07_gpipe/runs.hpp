// What the page's programs run: four equal stages.
#pragma once

#include <string>
#include <vector>

#include "lessons/06_pipeline/run.hpp"

namespace lesson {

/// 15 blocks with h = 16, 32 tokens and V = 12 h + 2 T = 256, so that the head costs what a block costs: 16
/// equal parts for 4 stages of 1 or 2 chunks. 32 sequences, fp32;
/// 0.1 TFLOP/s.
inline TrainOptions equal_stages(const std::string& schedule, std::int64_t micro_batches)
{
    TrainOptions options = pipeline_run(4);
    options.shape = {15, 16, 2, 32, 256};
    options.batch = 32;
    options.topology.flops = 1e11;
    options.micro_batches = micro_batches;
    options.layout.schedule = schedule;
    options.layout.virtual_stages = schedule == "interleaved" ? 2 : 1;
    return options;
}

struct MeasuredStep {
    double seconds = 0.0;             // virtual
    double idle = 0.0;                // part of all devices' time
    double flops = 0.0;               // of all devices
    double messages = 0.0;            // between stages
    std::vector<double> activations;  // most bytes, by stage
};

/// A step, on rank 0; nothing elsewhere.
inline MeasuredStep measure_step(MpiSession& session, const TrainOptions& options)
{
    MeasuredStep result;
    on_grid(session, options, [&](Comm& comm) {
        Trainer trainer(comm, options);
        const RandomBatch batch(options.batch, options.shape.sequence, 1);
        const double begin = comm.device().clock().now();
        const StepReport report = trainer.step(batch.view(), 1);
        result.seconds = comm.device().clock().now() - begin;
        const Device& device = comm.device();
        double busy = 0.0;
        for (const auto& numbers :
             gather_numbers(comm, {report.busy_seconds, device.flops(),
                                   static_cast<double>(trainer.groups().pipeline.traffic().total.messages),
                                   static_cast<double>(device.memory().peak_of(Category::activations))})) {
            busy += numbers[0];
            result.flops += numbers[1];
            result.messages += numbers[2];
            result.activations.push_back(numbers[3]);
        }
        result.idle = 1.0 - busy / (result.seconds * comm.size());
    });
    return result;
}

}  // namespace lesson
