// What a device sends in a step: ZeRO 3 on 4 devices, and a pipeline of 4 stages. Counted for the small
// model, then by the formulas for larger ones.
#include <string>
#include <vector>

#include "lessons/05_zero/memory.hpp"
#include "lessons/06_pipeline/run.hpp"

using namespace lesson;

namespace {

constexpr int devices = 4;

/// 2 B T h elements: one device's activations, and the gradients of its neighbour's.
double crossing_bytes(const ModelShape& shape, std::int64_t batch)
{
    return 2.0 * static_cast<double>(batch * shape.sequence * shape.hidden) * size_of(DType::bf16);
}

double fetched_bytes(const ModelShape& shape)
{
    return zero::sent_elements(3, static_cast<double>(shape.parameters()), devices) * size_of(DType::bf16);
}

/// Bytes sent by the ranks' data-parallel and pipeline communicators in a step, by rank, on rank 0.
std::vector<std::vector<double>> counted(MpiSession& session, TrainOptions options)
{
    std::vector<std::vector<double>> sent;
    options.dtype = DType::bf16;
    on_grid(session, options, [&](Comm& comm) {
        Trainer trainer(comm, options);
        const RandomBatch batch(options.batch, options.shape.sequence, 1);
        trainer.step(batch.view(), 1);
        sent = gather_numbers(comm, {static_cast<double>(trainer.groups().data.data.traffic().total.bytes),
                                     static_cast<double>(trainer.groups().pipeline.traffic().total.bytes)});
    });
    return sent;
}

void print_counted(MpiSession& session)
{
    TrainOptions pipelined = pipeline_run(devices);
    pipelined.shape.sequence = 16;
    pipelined.batch = 4;
    TrainOptions sharded = pipelined;
    sharded.layout.pp = 1;
    sharded.layout.dp = devices;
    sharded.layout.zero = 3;
    const auto zero = counted(session, sharded);
    const auto pipeline = counted(session, pipelined);
    if (session.rank() != 0) return;
    const double boundary = crossing_bytes(pipelined.shape, pipelined.batch);
    const double tied = static_cast<double>(pipelined.shape.vocabulary * pipelined.shape.hidden) * 2.0;
    fmt::print("ZeRO 3, a rank: {} bytes, 3X (p - 1)/p elements are {}\n", zero[0][0],
               fetched_bytes(sharded.shape));
    double sum = 0.0;
    for (std::size_t s = 0; s < pipeline.size(); ++s) {
        fmt::print("pipeline, stage {}: {} bytes\n", s, pipeline[s][1]);
        sum += pipeline[s][1];
    }
    fmt::print("all stages: {}, of which the tied embedding's gradients 2Vh are {} and 2(P - 1) B T h {}\n\n",
               sum, 2.0 * tied, (devices - 1) * boundary);
}

void print_predicted()
{
    fmt::print(
        "bf16, 4 devices                             ZeRO 3,      pipeline,\n"
        "    X      L      h      V     B     T   3X (p-1)/p   2 B T h a boundary   equal at B T of\n");
    for (const auto& [shape, batch] : {std::pair<ModelShape, std::int64_t>{{8, 64, 4, 16, 256}, 4},
                                       {{48, 1600, 25, 1024, 50257}, 32},
                                       {{36, 4096, 32, 2048, 50257}, 32},
                                       {{96, 12288, 96, 2048, 50257}, 32}}) {
        const double fetched = fetched_bytes(shape);
        const double crossing = crossing_bytes(shape, batch);
        const double tokens = static_cast<double>(batch * shape.sequence);
        fmt::print("{:>7.1e}{:>5}{:>7}{:>7}{:>6}{:>6}{:>10.3g} GB{:>18.3g} GB{:>18.0f}\n",
                   static_cast<double>(shape.parameters()), shape.layers, shape.hidden, shape.vocabulary,
                   batch, shape.sequence, fetched / 1e9, crossing / 1e9, tokens * fetched / crossing);
    }
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        print_counted(session);
        if (session.rank() == 0) print_predicted();
        return 0;
    });
}
