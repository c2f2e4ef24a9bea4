// Runs one case of lesson 09 on the code it is linked with. Inputs and outputs are named as in the lesson's
// headers.
#include "tests/09_3d/driver_grid.hpp"
#include "tests/09_3d/driver_norm.hpp"
#include "tests/09_3d/driver_step.hpp"

int main(int argc, char** argv)
{
    using namespace grid_test;
    return grade::run_driver(argc, argv,
                             {{"coordinates", coordinates},
                              {"groups", groups},
                              {"groups_refused", groups_refused},
                              {"counted_names", counted_names},
                              {"norm", norm},
                              {"step", step}});
}
