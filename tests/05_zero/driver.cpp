// Runs one case of lesson 05 on the code it is linked with.
#include "lib/tools/grade/driver.hpp"

#include "tests/05_zero/driver_values.hpp"

using namespace grade;

int main(int argc, char** argv)
{
    return run_driver(argc, argv, {{"values", zero_test::values}});
}
