// Runs one case of lesson 08 on the code it is linked with. Inputs and outputs are named as in the lesson's
// headers.
#include "tests/08_tensor_parallel/driver_dropout.hpp"
#include "tests/08_tensor_parallel/driver_linear.hpp"
#include "tests/08_tensor_parallel/driver_model.hpp"
#include "tests/08_tensor_parallel/driver_vocabulary.hpp"

int main(int argc, char** argv)
{
    using namespace tensor_parallel_test;
    return grade::run_driver(argc, argv,
                             {{"boundary", tensor_parallel_test::boundary},
                              {"column_forward", column_forward},
                              {"column_backward", column_backward},
                              {"row_forward", row_forward},
                              {"row_backward", row_backward},
                              {"embedding_forward", tensor_parallel_test::embedding_forward},
                              {"embedding_backward", tensor_parallel_test::embedding_backward},
                              {"cross_entropy_forward", tensor_parallel_test::cross_entropy_forward},
                              {"cross_entropy_backward", tensor_parallel_test::cross_entropy_backward},
                              {"gpt", gpt},
                              {"gpt_parameters", gpt_parameters},
                              {"gpt_steps", gpt_steps},
                              {"degree", degree},
                              {"dropout", dropout}});
}
