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
    // Your code: see lessons/05_zero/memory.hpp (hints: make hint-05 PART=05.1)
    not_implemented("05.1 state_bytes");
    return bytes;
}

double zero::sent_elements(int stage, double parameters, int degree)
{
    check_input(stage, parameters, degree);
    // Your code: see lessons/05_zero/memory.hpp (hints: make hint-05 PART=05.1)
    not_implemented("05.1 sent_elements");
}
