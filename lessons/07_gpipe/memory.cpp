// The activations of 4 equal stages, at most, beside what the schedule says: 8 micro-batches, with and
// without recomputation.
#include <algorithm>
#include <array>
#include <string>

#include "lessons/07_gpipe/runs.hpp"
#include "lib/tools/schedule/named.hpp"

using namespace lesson;

namespace {

/// Of a chunk and a micro-batch of b sequences, in bytes of fp32.
struct ChunkBytes {
    double input;    // b T h elements; the model's input is none
    double saved;    // by the forward pass for the backward pass
    double passing;  // that the backward pass holds besides when it begins
};

/// 16 equal parts, of which the last one is the head.
ChunkBytes bytes_of(const TrainOptions& o, int stage, int chunk)
{
    const double b = static_cast<double>(o.batch) / static_cast<double>(o.micro_batches);
    const auto t = static_cast<double>(o.shape.sequence);
    const auto h = static_cast<double>(o.shape.hidden);
    const auto a = static_cast<double>(o.shape.heads);
    const auto v = static_cast<double>(o.shape.vocabulary);
    const double x = 4 * b * t * h;
    const double block = 4 * (16 * b * t * h + b * a * t * t + 4 * b * t);
    const double head = 4 * (2 * b * t * h + b * t * v + 3 * b * t);
    const int parts = 16 / o.layout.pp / o.layout.virtual_stages;
    const bool last = stage == o.layout.pp - 1 && chunk == o.layout.virtual_stages - 1;
    return {stage == 0 && chunk == 0 ? 0.0 : x, last ? (parts - 1) * block + head : parts * block,
            last ? 2 * x + 8 : 5 * x};
}

/// Walks through the stage's program: the most that is held at the begin of a backward pass.
double predict(const TrainOptions& o, int stage)
{
    // BEGIN predict
    const pipeline::Schedule schedule = make_schedule(
        o.layout.schedule, o.layout.pp, static_cast<int>(o.micro_batches), o.layout.virtual_stages);
    double held = 0.0;
    double most = 0.0;
    for (const pipeline::Instruction& i : schedule.programs[static_cast<std::size_t>(stage)]) {
        const ChunkBytes bytes = bytes_of(o, stage, i.chunk);
        const double kept = o.recompute ? bytes.input : bytes.saved;
        if (i.action == pipeline::Action::forward) held += kept;
        if (i.action != pipeline::Action::backward) continue;
        held -= kept;
        most = std::max(most, held + bytes.saved + bytes.passing);
    }
    // END predict
    return most;
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        if (session.rank() == 0)
            fmt::print(
                "              FLOPs        stage 0            stage 1            stage 2            stage "
                "3\n"
                "                     counted predicted  counted predicted  counted predicted  counted "
                "predicted\n");
        double flops = 0.0;
        for (const bool recompute : {false, true})
            for (const std::string schedule : {"gpipe", "1f1b", "interleaved"}) {
                TrainOptions options = equal_stages(schedule, 8);
                options.recompute = recompute;
                options.topology = free_links(options.topology);
                const MeasuredStep step = measure_step(session, options);
                if (session.rank() != 0) continue;
                if (flops == 0.0) flops = step.flops;
                fmt::print("{:<12}{:>7.4f}", schedule, step.flops / flops);
                for (int s = 0; s < options.layout.pp; ++s)
                    fmt::print("{:>9}{:>10}", step.activations[static_cast<std::size_t>(s)],
                               predict(options, s));
                fmt::print("{}\n", recompute ? "   recomputing" : "");
            }
        return 0;
    });
}
