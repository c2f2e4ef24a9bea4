// Runs one case of lesson 01 on the code it is linked with. Inputs and outputs are named as in the lesson's
// headers.
#include "lib/tools/grade/driver.hpp"

#include "lessons/01_transformer/gelu.hpp"
#include "lessons/01_transformer/linear.hpp"

using namespace grade;

namespace {

void linear_forward(Case& c)
{
    const Tensor x = c.tensor("x");
    const Tensor w = c.tensor("w", Category::parameters);
    const Tensor b = c.tensor("b", Category::parameters);
    c.start_measuring();
    const Tensor y = transformer::linear_forward(x, w, b);
    c.stop_measuring();
    c.put("y", y);
}

}  // namespace

int main(int argc, char** argv)
{
    return run_driver(argc, argv, {{"linear_forward", linear_forward}});
}
