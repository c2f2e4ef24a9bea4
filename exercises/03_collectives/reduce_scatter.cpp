#include <algorithm>

#include "lessons/03_collectives/ring.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/machine/tensor/arithmetic.hpp"

using namespace collectives;

Chunk collectives::chunk_of(std::int64_t n, int parts, int index)
{
    check(n >= 0 && parts >= 1 && index >= 0 && index < parts,
          "chunk {} of {} elements in {} parts: expected 0 or more elements, at least 1 part and a chunk "
          "below that",
          index, n, parts);
    // Your code: see lessons/03_collectives/ring.hpp (hints: make hint-03 PART=03.1)
    not_implemented("03.1 chunk_of");
}

void collectives::ring_reduce_scatter(Comm& comm, Buffer values)
{
    // Your code: see lessons/03_collectives/ring.hpp (hints: make hint-03 PART=03.1)
    not_implemented("03.1 ring_reduce_scatter");
}
