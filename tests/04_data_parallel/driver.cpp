// Runs one case of lesson 04 on the code it is linked with. Inputs and outputs are named as in the lesson's
// headers.
#include "lib/tools/grade/driver.hpp"
#include "tests/04_data_parallel/driver_gradients.hpp"
#include "tests/04_data_parallel/driver_hooks.hpp"
#include "tests/04_data_parallel/driver_layout.hpp"
#include "tests/04_data_parallel/driver_optimizer.hpp"
#include "tests/04_data_parallel/driver_train.hpp"

int main(int argc, char** argv)
{
    return grade::run_driver(
        argc, argv,
        {{"shard_batch", layout_cases::shard_batch},
         {"make_buckets", layout_cases::make_buckets},
         {"segments_of", layout_cases::segments_of},
         {"bucket_gradients", gradient_cases::bucket_gradients},
         {"run_beside", gradient_cases::run_beside},
         {"norm_terms", optimizer_cases::norm_terms},
         {"optimizer_steps", optimizer_cases::optimizer_steps},
         {"hooked", hook_cases::hooked},
         {"gather_shards", hook_cases::gather_shards},
         {"train", [](grade::Case& c) { train_cases::train(c, data_parallel::make_replica); }}});
}
