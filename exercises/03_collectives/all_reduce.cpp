#include "lessons/03_collectives/ring.hpp"
#include "lib/machine/base/error.hpp"

using namespace collectives;

void collectives::ring_all_reduce(Comm& comm, Buffer values)
{
    // Your code: see lessons/03_collectives/ring.hpp (hints: make hint-03 PART=03.3)
    not_implemented("03.3 ring_all_reduce");
}
