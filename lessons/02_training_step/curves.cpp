// The lesson's picture: the same training in fp32, bf16 and fp16, with and without what mixed precision
// needs.
//   curves FILE.svg
// The model is one linear layer without BLAS or libm in its loss, so that the curves are the same everywhere.
#include <array>
#include <exception>
#include <utility>

#include "lessons/02_training_step/mixed_precision.hpp"
#include "lessons/02_training_step/plot.hpp"
#include "lib/machine/tensor/random.hpp"
#include "lib/tools/train/file.hpp"

using namespace training;

namespace {

constexpr int features = 64;
constexpr int rows = 16;  // of a batch
constexpr int steps = 6000;
constexpr double noise = 1e-3;  // of what y should be
constexpr double unit = 1e-8;   // of the loss: gradients are as small as a deep network's

struct Run {
    const char* name;
    const char* style_class;
    DType dtype;
    bool master = true;
    bool scaled = false;
};

double uniform(const RandomStream& stream, std::uint64_t i)
{
    return 2.0 * stream.uniform(i) - 1.0;
}

/// y = Σ_j x_j w_j should be what the weights `wanted` give, and some noise; loss = unit / (2 B) Σ_rows (y −
/// y_wanted)².
class Problem {
  public:
    Problem() : inputs_(1, "inputs"), noise_(1, "noise"), wanted_(features)
    {
        const RandomStream stream(1, "wanted");
        for (std::size_t j = 0; j < features; ++j) wanted_[j] = uniform(stream, j);
    }

    /// Returns the loss over `unit` of batch number `step`; `gradient` = d(scale · loss)/dw.
    double loss(const std::vector<double>& w, std::uint64_t step, double scale,
                std::vector<double>& gradient) const
    {
        gradient.assign(features, 0.0);
        double sum = 0.0;
        for (std::uint64_t row = 0; row < rows; ++row) {
            const std::uint64_t first = (step * rows + row) * features;
            double error = noise * uniform(noise_, step * rows + row);
            for (std::size_t j = 0; j < features; ++j)
                error += uniform(inputs_, first + j) * (w[j] - wanted_[j]);
            for (std::size_t j = 0; j < features; ++j)
                gradient[j] += scale * unit / rows * error * uniform(inputs_, first + j);
            sum += error * error;
        }
        return sum / (2.0 * rows);
    }

  private:
    RandomStream inputs_;
    RandomStream noise_;
    std::vector<double> wanted_;
};

/// The loss over `unit` before every step.
std::vector<double> train(const Problem& problem, const Run& run)
{
    Device device{DeviceOptions{}};
    Parameter w{"w", Slice::whole({features}), {}, false, {}, {}, {}};
    FlatParameters parameters(device, make_flat_layout(std::vector{&w}, 1), run.dtype);
    OptimizerStates states = make_optimizer_states(parameters.values());
    LossScale scale;
    const LearningRateSchedule schedule{1e-3, 1e-5, 0, steps};
    AdamW options{.beta2 = 0.99, .epsilon = 1e-15, .weight_decay = 0.0};
    std::vector<double> losses, gradient;
    for (int step = 1; step <= steps; ++step) {
        const double factor = run.scaled ? scale.scale : 1.0;
        losses.push_back(
            problem.loss(to_doubles(w.value), static_cast<std::uint64_t>(step), factor, gradient));
        from_doubles(gradient, parameters.gradients());
        if (!run.master) convert(std::as_const(w.value).buffer(), states.master.buffer());
        options.learning_rate = learning_rate_at(schedule, step);
        update_parameters(options, 0.0, run.scaled ? &scale : nullptr, parameters, states);
    }
    return losses;
}

/// The mean loss of the `count` steps before and with number `last`.
double mean_until(const std::vector<double>& losses, int last, int count)
{
    double sum = 0.0;
    for (int i = last - count; i < last; ++i) sum += losses[static_cast<std::size_t>(i)];
    return sum / count;
}

void draw(const std::string& path)
{
    const std::vector<Run> runs{{"fp32", "fp32", DType::fp32},
                                {"bf16, master weights", "bf16", DType::bf16},
                                {"bf16 alone", "bf16-alone", DType::bf16, false},
                                {"fp16, master weights, loss scaling", "fp16", DType::fp16, true, true},
                                {"fp16, master weights, no loss scaling", "fp16-unscaled", DType::fp16}};
    const Problem problem;
    std::vector<lesson::Curve> curves;
    const std::array<int, 4> shown{50, 1000, 3000, steps};
    fmt::print("{:<40}", "mean loss of the 50 steps up to step");
    for (const int step : shown) fmt::print("{:>10}", step);
    fmt::print("\n");
    for (const Run& run : runs) {
        const std::vector<double> losses = train(problem, run);
        fmt::print("{:<40}", run.name);
        for (const int step : shown) fmt::print("{:>10.2g}", mean_until(losses, step, 50));
        fmt::print("\n");
        lesson::Curve curve{run.name, run.style_class, {}};
        for (int step = 50; step <= steps; step += 25)
            curve.points.emplace_back(step, mean_until(losses, step, 50));
        curves.push_back(std::move(curve));
    }
    write_text(path, lesson::plot("One linear layer, 64 weights, AdamW", steps, curves));
}

}  // namespace

int main(int argc, char** argv)
try {
    check(argc == 2, "usage: {} FILE.svg", argv[0]);
    draw(argv[1]);
} catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
