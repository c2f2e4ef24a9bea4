// Checks a collective of one's own. `make verify-collective HEADER=… FUNCTION=… KIND=…` puts another in place
// of this one.
#include "lessons/03_collectives/own/my_all_reduce.hpp"
#include "lib/tools/verify/collective.hpp"

int main(int argc, char** argv)
{
    return shardlings::verify_collective(argc, argv, shardlings::Collective::all_reduce, my_all_reduce);
}
