// 2 stages of 2 data-parallel ranks, 4 micro-batches each: what is sent by which group in every stage of
// ZeRO, and whether losses and norms of 3 steps are the same.
#include "lessons/07_gpipe/runs.hpp"

using namespace lesson;

namespace {

TrainOptions grid_options(int zero)
{
    TrainOptions options = pipeline_run(2);
    options.layout.dp = 2;
    options.layout.zero = zero;
    options.layout.schedule = "1f1b";
    options.micro_batches = 4;
    options.steps = 3;
    options.dtype = DType::bf16;
    options.zero.gradient_buckets = 2;
    return options;
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        std::vector<double> plain;  // losses and norms of ZeRO 0
        if (session.rank() == 0)
            fmt::print(
                "                sent in a step by rank 0\n"
                "                pipeline            data-parallel          bytes held between\n"
                "ZeRO   messages       bytes   messages       bytes   steps            losses\n");
        for (const int zero : {0, 1, 2, 3}) {
            const TrainOptions options = grid_options(zero);
            on_grid(session, options, [&](Comm& comm) {
                Trainer trainer(comm, options);
                std::vector<double> reports;
                Traffic::Count pipeline;
                Traffic::Count data;
                for (std::int64_t step = 1; step <= options.steps; ++step) {
                    const RandomBatch batch(options.batch, options.shape.sequence, step);
                    const StepReport report = trainer.step(batch.view(), step);
                    reports.push_back(report.loss);
                    reports.push_back(report.gradient_norm);
                    if (step > 1) continue;
                    pipeline = trainer.groups().pipeline.traffic().total;
                    data = trainer.groups().data.data.traffic().total;
                }
                if (zero == 0) plain = reports;
                const MemoryUse& memory = comm.device().memory();
                if (comm.rank() == 0)
                    fmt::print("{:>4}{:>11}{:>12}{:>11}{:>12}{:>17}   {}\n", zero, pipeline.messages,
                               pipeline.bytes, data.messages, data.bytes, memory.current,
                               reports == plain ? "identical" : "different");
            });
        }
        return 0;
    });
}
