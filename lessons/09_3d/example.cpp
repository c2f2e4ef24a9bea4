// PP 4 x DP 2 x TP 4 on 4 nodes of 8 devices: losses beside the single process's, memory for ZeRO 0 to 3 and
// the traffic of a step beside the formulas. 32 ranks.
#include <array>
#include <string>

#include "lessons/05_zero/memory.hpp"
#include "lessons/09_3d/run.hpp"

using namespace lesson;

namespace {

constexpr int steps = 4;

/// Loss and norm of every step, on rank 0.
std::vector<StepReport> train(MpiSession& session, const TrainOptions& options)
{
    std::vector<StepReport> reports;
    on_grid(session, options, [&](Comm& world) {
        Trainer trainer(world, options);
        for (int step = 1; step <= steps; ++step) {
            const RandomBatch batch(options.batch, options.shape.sequence, step);
            reports.push_back(trainer.step(batch.view(), step));
        }
    });
    return reports;
}

void print_losses(MpiSession& session)
{
    const std::vector<StepReport> one = train(session, example_run());
    const std::vector<StepReport> all = train(session, example_on_grid(1));
    if (session.rank() > 0) return;
    fmt::print(
        "fp64, ZeRO 1   single process              32 devices\n"
        "step           loss          norm          loss          norm          relative difference\n");
    for (std::size_t i = 0; i < one.size(); ++i) {
        const double error =
            std::max(std::abs(all[i].loss - one[i].loss) / one[i].loss,
                     std::abs(all[i].gradient_norm - one[i].gradient_norm) / one[i].gradient_norm);
        fmt::print("{:>4}   {:>18.10f}{:>14.10f}{:>14.10f}{:>14.10f}  {}\n", i + 1, one[i].loss,
                   one[i].gradient_norm, all[i].loss, all[i].gradient_norm,
                   error < 1e-12 ? "< 1e-12" : fmt::format("{:.1e} !", error));
    }
}

/// Elements of a device of `stage`: of a block's 12 h² + 13 h, the matrices and the biases of what is cut by
/// columns are shared out over T ranks, and 6 h are whole; so are s h positions and the last layer norm.
double parameters_of_stage(const TrainOptions& o, int stage)
{
    const auto h = static_cast<double>(o.shape.hidden);
    const double t = o.layout.tp;
    const double vocabulary = static_cast<double>(o.shape.vocabulary) * h / t;
    double sum = static_cast<double>(o.shape.layers) / o.layout.pp * ((12 * h * h + 7 * h) / t + 6 * h);
    if (stage == 0) sum += vocabulary + static_cast<double>(o.shape.sequence) * h;
    if (stage == o.layout.pp - 1) sum += vocabulary + 2 * h;
    return sum;
}

/// One step, then, of every rank on rank 0: parameters, gradients, optimizer states, most activations.
std::vector<std::vector<double>> memory_after_step(MpiSession& session, const TrainOptions& options)
{
    std::vector<std::vector<double>> ranks;
    on_grid(session, options, [&](Comm& world) {
        Trainer trainer(world, options);
        const RandomBatch batch(options.batch, options.shape.sequence, 1);
        trainer.step(batch.view(), 1);
        const MemoryUse& memory = world.device().memory();
        ranks = gather_numbers(world, {static_cast<double>(memory.current_of(Category::parameters)),
                                       static_cast<double>(memory.current_of(Category::gradients)),
                                       static_cast<double>(memory.current_of(Category::optimizer_states)),
                                       static_cast<double>(memory.peak_of(Category::activations))});
    });
    return ranks;
}

/// "253696", or both ends when the devices of a stage differ.
std::string range(const std::vector<std::vector<double>>& ranks, int stage, std::size_t figure)
{
    const std::size_t size = ranks.size() / 4;
    double least = ranks[size * static_cast<std::size_t>(stage)][figure];
    double most = least;
    for (std::size_t i = 0; i < size; ++i) {
        const double bytes = ranks[size * static_cast<std::size_t>(stage) + i][figure];
        least = std::min(least, bytes);
        most = std::max(most, bytes);
    }
    return least == most ? fmt::format("{}", least) : fmt::format("{}-{}", least, most);
}

void print_memory(MpiSession& session)
{
    if (session.rank() == 0)
        fmt::print(
            "\nbf16             parameters          gradients     optimizer states      sum\n"
            "ZeRO stage  counted predicted  counted predicted  counted predicted  counted  activations\n");
    for (const int zero : {0, 1, 2, 3}) {
        TrainOptions options = example_on_grid(zero);
        options.dtype = DType::bf16;
        const auto ranks = memory_after_step(session, options);
        if (session.rank() > 0) continue;
        for (const int stage : {0, 1, 2, 3}) {
            const zero::StateBytes formula =
                zero::state_bytes(zero, parameters_of_stage(options, stage), options.layout.dp, DType::bf16);
            fmt::print("{:>4}{:>6}", zero, stage);
            const std::array<double, 3> predicted{formula.parameters, formula.gradients,
                                                  formula.optimizer_states};
            double sum = 0.0;
            for (std::size_t i = 0; i < predicted.size(); ++i) {
                fmt::print("{:>9}{:>10}", range(ranks, stage, i), predicted[i]);
                sum += ranks[8 * static_cast<std::size_t>(stage)][i];
            }
            fmt::print("{:>9}{:>13}\n", sum, range(ranks, stage, 3));
        }
    }
}

/// Bytes that a device of `stage` sends in a step: pipeline, data, tensor, everyone; and between nodes.
std::array<double, 5> predicted_traffic(const TrainOptions& o, int stage)
{
    const double e = 8.0;
    const double p = o.layout.pp;
    const double d = o.layout.dp;
    const double t = o.layout.tp;
    const auto m = static_cast<double>(o.micro_batches);
    const auto h = static_cast<double>(o.shape.hidden);
    const double rows = static_cast<double>(o.batch * o.shape.sequence) / d / m;
    const bool first = stage == 0;
    const bool last = stage == o.layout.pp - 1;
    const double tied = first || last ? static_cast<double>(o.shape.vocabulary) * h / t * e : 0.0;
    const double pipeline = m * rows * h * e * (first || last ? 1.0 : 2.0) + tied;
    const double data = 2.0 * (d - 1.0) / d * parameters_of_stage(o, stage) * e;
    const double all_reduces = 4.0 * static_cast<double>(o.shape.layers) / p + (first || last ? 1.0 : 0.0);
    const double losses = last ? m * e * ((t - 1.0) * rows + std::log2(t)) : 0.0;
    const double tensor = m * all_reduces * 2.0 * (t - 1.0) / t * rows * h * e + losses;
    const double terms = 1.0 + d * t * (12.0 * static_cast<double>(o.shape.layers) + 4.0);
    const double everyone = (terms + 1.0) * e * std::log2(p * d * t);
    return {pipeline, data, tensor, everyone, pipeline + everyone * std::log2(p) / std::log2(p * d * t)};
}

void print_traffic(MpiSession& session)
{
    const TrainOptions options = example_on_grid(1);
    std::vector<std::vector<double>> ranks;
    on_grid(session, options, [&](Comm& world) {
        Trainer trainer(world, options);
        const double before = static_cast<double>(world.device().traffic().inter_node.bytes);
        const RandomBatch batch(options.batch, options.shape.sequence, 1);
        trainer.step(batch.view(), 1);
        const grid::Groups& groups = trainer.groups();
        const auto sent = [](const Comm& group) { return static_cast<double>(group.traffic().total.bytes); };
        ranks = gather_numbers(
            world, {sent(groups.pipeline), sent(groups.data.data), sent(groups.tensor), sent(groups.everyone),
                    static_cast<double>(world.device().traffic().inter_node.bytes) - before});
    });
    if (session.rank() > 0) return;
    fmt::print(
        "\nfp64, ZeRO 1: bytes sent by a device in a step\n"
        "             pipeline               data             tensor           everyone   "
        "between nodes\n"
        "stage  counted predicted  counted predicted  counted predicted  counted predicted  "
        "counted predicted\n");
    for (const int stage : {0, 1, 2, 3}) {
        const auto predicted = predicted_traffic(options, stage);
        fmt::print("{:>5}", stage);
        for (std::size_t i = 0; i < predicted.size(); ++i)
            fmt::print("{:>9}{:>10}", range(ranks, stage, i), predicted[i]);
        fmt::print("\n");
    }
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        print_losses(session);
        print_memory(session);
        print_traffic(session);
        return 0;
    });
}
