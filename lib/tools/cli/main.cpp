#include "lib/machine/base/crash.hpp"
#include "lib/machine/tensor/matrix.hpp"
#include "lib/tools/cli/program.hpp"

int main(int argc, char** argv)
{
    shardlings::report_crashes();
    shardlings::use_one_blas_thread();
    return shardlings::run_program(argc, argv);
}
