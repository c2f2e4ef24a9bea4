// The token embedding on both ends of a pipeline of two stages: gradients added on both, on the first stage
// only, and on none. Beside it the single process.
#include <array>
#include <cmath>

#include "lessons/02_training_step/mixed_precision.hpp"
#include "lessons/06_pipeline/engine.hpp"
#include "lessons/06_pipeline/run.hpp"

using namespace lesson;

namespace {

constexpr ModelShape shape{2, 32, 2, 16, 256};
constexpr int steps = 20;
constexpr training::AdamW adamw{.learning_rate = 0.003};

enum class Tied { both, first_only, none };

/// Losses by step, and then the elements in which the two copies differ, on both ranks.
std::vector<double> run_pipeline(Comm& comm, Tied tied)
{
    const pipeline::Schedule schedule = pipeline::naive_schedule(2, 1);
    pipeline::Stage stage =
        pipeline::make_stage(pipeline::gpt_parts(shape), std::vector<std::int64_t>{1, 1}, 2, comm.rank());
    FlatParameters flat(comm.device(), make_flat_layout(parameters_of(stage.modules), 1), DType::fp64);
    for (Parameter* parameter : parameters_of(stage.modules)) initialise(*parameter, 1);
    training::OptimizerStates states = training::make_optimizer_states(flat.values());
    std::vector<double> result;
    for (int step = 1; step <= steps; ++step) {
        const RandomBatch batch(4, shape.sequence, 1);
        const std::vector<MicroBatch> parts = training::split_batch(batch.view(), 1);
        flat.gradients().fill_zero();
        result.push_back(pipeline::run_program(comm, stage, schedule, shape, DType::fp64, parts, 1.0, false));
        const Tensor alone = stage.tied_embedding->gradient.clone(Category::gradients);
        if (tied != Tied::none) pipeline::add_tied_gradients(comm, stage);
        if (tied == Tied::first_only && comm.rank() == 1)
            from_doubles(to_doubles(alone), stage.tied_embedding->gradient);
        training::update_parameters(adamw, 0.0, nullptr, flat, states);
    }
    const auto copies = gather_numbers(comm, to_doubles(stage.tied_embedding->value));
    double different = 0.0;
    if (comm.rank() == 0)
        for (std::size_t i = 0; i < copies[0].size(); ++i) different += copies[0][i] == copies[1][i] ? 0 : 1;
    result.push_back(different);
    for (double& number : result) {  // the loss is known to the last stage, the count to the first
        double other = 0.0;
        const int peer = 1 - comm.rank();
        comm.sendrecv(buffer_of(std::span<const double>(&number, 1)), peer, buffer_of(std::span(&other, 1)),
                      peer);
        number += other;
    }
    return result;
}

std::vector<double> run_single()
{
    OneDevice model(shape, DType::fp64);
    training::OptimizerStates states = training::make_optimizer_states(model.flat().values());
    std::vector<double> losses;
    for (int step = 1; step <= steps; ++step) {
        const RandomBatch batch(4, shape.sequence, 1);
        losses.push_back(model.accumulate(training::split_batch(batch.view(), 1)));
        training::update_parameters(adamw, 0.0, nullptr, model.flat(), states);
    }
    return losses;
}

}  // namespace

int main(int argc, char** argv)
{
    return run_rank(argc, argv, [](MpiSession& session) {
        TrainOptions options = pipeline_run(2);
        on_grid(session, options, [&](Comm& comm) {
            const std::array<std::vector<double>, 3> runs{run_pipeline(comm, Tied::both),
                                                          run_pipeline(comm, Tied::first_only),
                                                          run_pipeline(comm, Tied::none)};
            if (comm.rank() != 0) return;
            const std::vector<double> single = run_single();
            fmt::print("loss                 single process   added on both   on the first only   on none\n");
            for (const std::size_t step : {1, 2, 10, 20})
                fmt::print("step {:<2}{:>28.5f}{:>16.5f}{:>20.5f}{:>10.5f}\n", step, single[step - 1],
                           runs[0][step - 1], runs[1][step - 1], runs[2][step - 1]);
            fmt::print("same loss in every bit, of 20 steps");
            for (const auto& run : runs) {
                int same = 0;
                for (std::size_t i = 0; i < steps; ++i) same += run[i] == single[i] ? 1 : 0;
                fmt::print("{:>6}", same);
            }
            fmt::print("\nof {} elements, different on the two ends {} {} {}\n",
                       shape.vocabulary * shape.hidden, runs[0].back(), runs[1].back(), runs[2].back());
        });
        return 0;
    });
}
