// Published numbers beside this lesson's functions: ZeRO's memory, Megatron's activations, Chinchilla's
// FLOPs.
#include <fmt/core.h>

#include "lessons/05_zero/memory.hpp"
#include "lessons/10_counting/activations.hpp"
#include "lessons/10_counting/flops.hpp"

using namespace shardlings;

namespace {

void print_zero_memory()
{
    fmt::print("7.5e9 parameters, 16 bits, K = 12: GB of a device (Rajbhandari et al., table 1)\n");
    fmt::print("    Nd  stage 1  stage 2  stage 3\n");
    for (const int degree : {1, 4, 16, 64, 256, 1024}) {
        fmt::print("{:>6}", degree);
        for (const int stage : {1, 2, 3}) {
            const zero::StateBytes bytes = zero::state_bytes(stage, 7.5e9, degree, DType::bf16);
            fmt::print("{:>9.2f}", (bytes.parameters + bytes.gradients + bytes.optimizer_states) / 1e9);
        }
        fmt::print("\n");
    }
}

/// T_p = 8, 2048 tokens, 1F1B or interleaved.
counting::Job megatron_job(const ModelShape& shape, int pp, int chunks, std::int64_t micro_batch)
{
    counting::Job job;
    job.shape = shape;
    job.layout = {
        .pp = pp, .tp = 8, .schedule = chunks > 1 ? "interleaved" : "1f1b", .virtual_stages = chunks};
    job.dtype = DType::bf16;
    job.micro_batches = 64;
    job.batch = 64 * micro_batch;
    return job;
}

void print_activations(const char* name, counting::Job job)
{
    constexpr double gib = 1024.0 * 1024.0 * 1024.0;
    fmt::print("{:<6}", name);
    for (const bool selective : {false, true}) {
        job.recompute = selective ? counting::Recompute::selective : counting::Recompute::none;
        job.layout.sequence_parallel = selective;
        fmt::print("{:>14.4f}{:>9.4f}", counting::megatron_activations(job) / gib,
                   static_cast<double>(counting::saved_activations(job, {})) / gib);
    }
    fmt::print("\n");
}

void print_flops(const counting::FlopsShape& shape, double parameters)
{
    fmt::print("{:>4.0f}{:>6.0f}{:>13.0f}{:>19.0f}{:>11.6f}{:>11.6f}\n", shape.layers, shape.hidden,
               parameters, counting::sequence_flops(shape).training(false),
               ratio_to_6nd(shape, parameters, false), ratio_to_6nd(shape, parameters, true));
}

}  // namespace

int main()
{
    print_zero_memory();
    fmt::print("\nGiB of activations, first stage   no recomputation    selective, sequence-parallel\n");
    fmt::print("         Megatron     ours      Megatron     ours\n");
    print_activations("22B", megatron_job({48, 6144, 64, 2048, 51200}, 1, 1, 4));
    print_activations("175B", megatron_job({96, 12288, 96, 2048, 51200}, 8, 3, 1));
    fmt::print("\nFLOPs to train on 2048 tokens (Hoffmann et al., table A4), over 6 N D\n");
    fmt::print("   L     h   parameters  without the ends       over  with ends\n");
    print_flops({10, 640, 2560, 10, 64, 2048, 32000}, 73825280);
    print_flops({20, 1024, 4096, 16, 64, 2048, 32000}, 305707008);
    print_flops({24, 1280, 5120, 10, 128, 2048, 32000}, 552604160);
    print_flops({26, 1792, 7168, 14, 128, 2048, 32000}, 1143453696);
    print_flops({28, 2048, 8192, 16, 128, 2048, 32000}, 1593126912);
    print_flops({40, 3584, 14336, 28, 128, 2048, 32000}, 6796274688);
}
