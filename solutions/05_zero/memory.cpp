#include "lessons/05_zero/memory.hpp"

#include "lib/machine/base/error.hpp"

using namespace zero;

namespace {

void check_input(int stage, double parameters, int degree)
{
    check(stage >= 0 && stage <= 3, "ZeRO stage {}: expected 0, 1, 2 or 3", stage);
    check(parameters >= 0.0 && degree >= 1, "{} parameters on {} devices: expected 0 or more on 1 or more",
          parameters, degree);
}

}  // namespace

StateBytes zero::state_bytes(int stage, double parameters, int degree, DType dtype)
{
    check_input(stage, parameters, degree);
    StateBytes bytes{};
    // BEGIN SOLUTION 05.1 state_bytes
    const auto size = static_cast<double>(size_of(dtype));
    const double states = is_sixteen_bit(dtype) ? 12.0 : 2.0 * size;
    const auto share = [&](int from_stage) { return stage >= from_stage ? 1.0 / degree : 1.0; };
    bytes.parameters = parameters * size * share(3);
    bytes.gradients = parameters * size * share(2);
    bytes.optimizer_states = parameters * states * share(1);
    // END SOLUTION
    return bytes;
}

double zero::sent_elements(int stage, double parameters, int degree)
{
    check_input(stage, parameters, degree);
    // BEGIN SOLUTION 05.1 sent_elements
    return (stage == 3 ? 3.0 : 2.0) * parameters * (degree - 1) / degree;
    // END SOLUTION
}
