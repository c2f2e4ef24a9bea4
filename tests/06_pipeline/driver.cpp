// Runs one case of lesson 06 on the code it is linked with. Inputs and outputs are named as in the lesson's
// headers.
#include "tests/06_pipeline/driver_engine.hpp"
#include "tests/06_pipeline/driver_optimizer.hpp"
#include "tests/06_pipeline/driver_schedule.hpp"
#include "tests/06_pipeline/driver_stage.hpp"

int main(int argc, char** argv)
{
    using namespace pipeline_test;
    return grade::run_driver(argc, argv,
                             {{"flops", flops},
                              {"balance_blocks", balance_blocks},
                              {"balance_refused", balance_refused},
                              {"append_pass", append_pass},
                              {"naive_schedule", naive_schedule},
                              {"stages", stages},
                              {"stage_passes", stage_passes},
                              {"stage_refused", stage_refused},
                              {"add_tied_gradients", add_tied_gradients},
                              {"probes", probes},
                              {"gpt", gpt},
                              {"pipeline_optimizer", pipeline_optimizer}});
}
