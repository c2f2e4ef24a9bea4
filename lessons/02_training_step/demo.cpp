// A weight of 1 that should fall by 0.001 a step, in bf16: with a master weight, and without.
#include <exception>
#include <utility>

#include "lessons/02_training_step/mixed_precision.hpp"

using namespace training;

namespace {

double first(const Tensor& tensor)
{
    return to_doubles(tensor)[0];
}

void ten_steps(bool with_master)
{
    Device device{DeviceOptions{}};
    Parameter w{"w", Slice::whole({1}), {1.0, 0.0}, false, {}, {}, {}};
    FlatParameters parameters(device, make_flat_layout(std::vector{&w}, 1), DType::bf16);
    initialise(w, 1);
    OptimizerStates states = make_optimizer_states(parameters.values());
    from_doubles(std::vector{2.0}, parameters.gradients());  // the same at every step
    fmt::print("{} a master weight\nstep   the update   in bf16\n", with_master ? "with" : "without");
    for (int step = 1; step <= 10; ++step) {
        if (!with_master) convert(std::as_const(w.value).buffer(), states.master.buffer());
        update_parameters({.learning_rate = 0.001}, 0.0, nullptr, parameters, states);
        fmt::print("{:>4}{:>13.6f}{:>10.7g}\n", step, first(states.master), first(w.value));
    }
}

}  // namespace

int main()
try {
    for (const bool with_master : {true, false}) ten_steps(with_master);
} catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
