// Gradients that are 4 times too large, as when 4 ranks sum their means: what AdamW and plain gradient
// descent make of them.
#include <array>
#include <cmath>
#include <exception>

#include "lessons/02_training_step/clipping.hpp"
#include "lessons/02_training_step/mixed_precision.hpp"
#include "lessons/04_data_parallel/run.hpp"

using namespace lesson;

namespace {

constexpr ModelShape shape{1, 32, 2, 16, 256};
constexpr int steps = 40;

/// A run over one batch with all gradients `factor` times as large.
class Run {
  public:
    Run(double factor, bool adamw) : factor_(factor), adamw_(adamw)
    {
        states_ = training::make_optimizer_states(model_.flat().values());
    }

    /// Returns the loss before the step, and the norm of the gradients.
    std::array<double, 2> step(const MicroBatch& batch)
    {
        std::vector<MicroBatch> parts = training::split_batch(batch, 1);
        parts[0].token_weight *= factor_;
        const double loss = model_.accumulate(parts) / factor_;
        const Tensor& gradients = model_.flat().gradients();
        const double norm = std::sqrt(training::sum_of_squares(gradients.buffer()));
        if (adamw_)
            training::update_parameters({.learning_rate = 0.003}, 0.0, nullptr, model_.flat(), states_);
        else
            descend(0.1);
        return {loss, norm};
    }

  private:
    void descend(double learning_rate)
    {
        std::vector<double> w = to_doubles(model_.flat().values());
        const std::vector<double> g = to_doubles(model_.flat().gradients());
        for (std::size_t i = 0; i < w.size(); ++i) w[i] -= learning_rate * g[i];
        from_doubles(w, model_.flat().values());
    }

    double factor_;
    bool adamw_;
    OneDevice model_{shape, DType::fp64};
    training::OptimizerStates states_;
};

}  // namespace

int main()
try {
    const RandomBatch batch(4, shape.sequence, 1);
    std::array<Run, 4> runs{Run{1.0, true}, Run{4.0, true}, Run{1.0, false}, Run{4.0, false}};
    fmt::print(
        "         AdamW, g        AdamW, 4 g       w - 0.1 g        w - 0.1 (4 g)\n"
        "step    loss    norm     loss    norm     loss    norm      loss    norm\n");
    for (int step = 1; step <= steps; ++step) {
        const bool shown = step == 1 || step % 10 == 0;
        if (shown) fmt::print("{:>4}", step);
        for (Run& run : runs) {
            const auto [loss, norm] = run.step(batch.view());
            if (shown) fmt::print("{:>9.4f}{:>8.3f}", loss, norm);
        }
        if (shown) fmt::print("\n");
    }
} catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
