// The page's small numbers: what 16 bits hold, AdamW's first steps, decay through the gradient, a spike.
#include <array>
#include <cmath>
#include <exception>
#include <vector>

#include "lessons/02_training_step/mixed_precision.hpp"

using namespace training;

namespace {

/// One element of the optimizer in fp64.
struct Weight {
    double w = 1.0;
    double m = 0.0;
    double v = 0.0;
    std::int64_t step = 0;

    void update(const AdamW& options, double gradient, bool decays)
    {
        const auto buffer = [](double& number) {
            return Buffer{reinterpret_cast<std::byte*>(&number), 1, DType::fp64};
        };
        adamw_update(options, ++step, 1.0, decays, buffer(gradient), buffer(m), buffer(v), buffer(w));
    }
};

double rounded(double value, DType dtype)
{
    Device device{DeviceOptions{}};
    Tensor tensor(device, {1}, dtype, Category::workspace);
    from_doubles(std::array{value}, tensor);
    return to_doubles(tensor)[0];
}

void print_formats()
{
    fmt::print("{:<34}{:>14}{:>14}{:>14}\n", "", "fp32", "bf16", "fp16");
    const auto row = [](const char* name, auto value) {
        fmt::print("{:<34}", name);
        for (const DType dtype : {DType::fp32, DType::bf16, DType::fp16})
            fmt::print("{:>14.7g}", value(dtype));
        fmt::print("\n");
    };
    row("from 1 to the next number", [](DType dtype) { return epsilon_of(dtype); });
    row("1 - 0.001", [](DType dtype) { return rounded(1.0 - 0.001, dtype); });
    row("0.1 - 0.001, from 0.1 rounded",
        [](DType dtype) { return rounded(rounded(0.1, dtype) - 0.001, dtype); });
    row("1e-8", [](DType dtype) { return rounded(1e-8, dtype); });
    row("1e-8 x 65536", [](DType dtype) { return rounded(1e-8 * 65536, dtype); });
    row("2 x 65536", [](DType dtype) { return rounded(2.0 * 65536, dtype); });
    row("1 + 1 + ... + 1 (1000 times)", [](DType dtype) {
        double sum = 0.0;
        for (int i = 0; i < 1000; ++i) sum = rounded(sum + 1.0, dtype);
        return sum;
    });
}

void print_first_steps()
{
    fmt::print(
        "\nAdamW by hand: w = 1, learning rate 0.1, decay 0.5, betas 0.9 and 0.99, epsilon 0\n"
        "step     g        m         v    m-hat     v-hat          w\n");
    const AdamW options{0.1, 0.9, 0.99, 0.0, 0.5};
    Weight weight;
    for (const double g : {2.0, -1.0}) {
        weight.update(options, g, true);
        const auto step = static_cast<double>(weight.step);
        fmt::print("{:>4}{:>6}{:>9.2f}{:>10.4f}{:>9.4f}{:>10.4f}{:>11.6f}\n", weight.step, g, weight.m,
                   weight.v, weight.m / (1.0 - std::pow(options.beta1, step)),
                   weight.v / (1.0 - std::pow(options.beta2, step)), weight.w);
    }
}

/// The step of the page's diagram: fp16, loss scale 1024, gradients of three tokens in two micro-batches.
void print_whole_step()
{
    Device device{DeviceOptions{}};
    Parameter w{"w", Slice::whole({1}), {0.5, 0.0}, false, {}, {}, {}};
    FlatParameters parameters(device, make_flat_layout(std::vector{&w}, 1), DType::fp16);
    initialise(w, 1);
    OptimizerStates states = make_optimizer_states(parameters.values());
    LossScale scale{.scale = 1024.0};
    const double gradient = scale.scale * (3.0 + 6.0) / 3.0 + scale.scale * -3.0 / 3.0;
    from_doubles(std::array{gradient}, parameters.gradients());
    const UpdateResult result = update_parameters({.learning_rate = 0.1}, 1.0, &scale, parameters, states);
    const auto value = [](const Tensor& tensor) { return to_doubles(tensor)[0]; };
    fmt::print(
        "\na whole step of one weight, fp16\n"
        "gradient {}, norm {}, m {:.4f}, v {:.4f}, master {:.6f}, parameter {:.6f}\n",
        gradient, result.gradient_norm, value(states.m), value(states.v), value(states.master),
        value(w.value));
}

void print_decay()
{
    fmt::print(
        "\na weight of 1 after 1000 steps of decay 0.1, learning rate 0.01; gradients +s, -s, +s, ...\n"
        "size s    decoupled    in the gradient (L2)\n");
    const AdamW options{0.01, 0.9, 0.95, 1e-8, 0.1};
    for (const double size : {0.01, 1.0, 100.0}) {
        Weight decoupled, in_gradient;
        for (int step = 0; step < 1000; ++step) {
            const double g = step % 2 == 0 ? size : -size;
            decoupled.update(options, g, true);
            in_gradient.update(options, g + options.weight_decay * in_gradient.w, false);
        }
        fmt::print("{:<6}{:>13.3f}{:>24.3f}\n", size, decoupled.w, in_gradient.w);
    }
}

void print_spike()
{
    fmt::print(
        "\nhow far w moves in a step, learning rate 0.001, g = 1 but at step 200\n"
        "g at step 200    step 199    200        201        240        280\n");
    for (const double spike : {1.0, 100.0}) {
        fmt::print("{:<13}", spike);
        Weight weight;
        for (int step = 1; step <= 280; ++step) {
            const double before = weight.w;
            weight.update({.learning_rate = 0.001}, step == 200 ? spike : 1.0, false);
            if (step == 199 || step == 200 || step == 201 || step == 240 || step == 280)
                fmt::print("{:>11.6f}", before - weight.w);
        }
        fmt::print("\n");
    }
}

}  // namespace

int main()
try {
    print_formats();
    print_first_steps();
    print_whole_step();
    print_decay();
    print_spike();
} catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
