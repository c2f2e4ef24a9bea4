#include <algorithm>
#include <cmath>

#include "lessons/03_collectives/broadcast.hpp"
#include "lessons/03_collectives/ring.hpp"
#include "lib/machine/base/error.hpp"

using namespace collectives;

namespace {

void check_root(const Comm& comm, int root)
{
    check(root >= 0 && root < comm.size(), "broadcast from rank {}: expected 0 to {}", root, comm.size() - 1);
}

}  // namespace

void collectives::tree_broadcast(Comm& comm, Buffer values, int root)
{
    check_root(comm, root);
    // Your code: see lessons/03_collectives/broadcast.hpp (hints: make hint-03 PART=03.4)
    not_implemented("03.4 tree_broadcast");
}

void collectives::chain_broadcast(Comm& comm, Buffer values, int root, int segments)
{
    check_root(comm, root);
    check(segments >= 1, "broadcast in {} segments: expected at least 1", segments);
    // Your code: see lessons/03_collectives/broadcast.hpp (hints: make hint-03 PART=03.4)
    not_implemented("03.4 chain_broadcast");
}

int collectives::best_segments(const Link& link, int ranks, double bytes)
{
    check(link.latency > 0.0, "the best number of segments: expected a link with a latency above 0");
    // Your code: see lessons/03_collectives/broadcast.hpp (hints: make hint-03 PART=03.4)
    not_implemented("03.4 best_segments");
}
