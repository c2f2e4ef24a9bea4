#include <algorithm>
#include <cmath>

#include "lessons/03_collectives/broadcast.hpp"
#include "lessons/03_collectives/ring.hpp"

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
    // BEGIN SOLUTION 03.4 tree_broadcast
    const int p = comm.size();
    const int distance = (comm.rank() - root + p) % p;
    for (int have = 1; have < p; have *= 2) {  // the ranks at distances below `have` have the values
        if (distance < have && distance + have < p)
            comm.send(values, (root + distance + have) % p);
        else if (distance >= have && distance < 2 * have)
            comm.recv(values, (root + distance - have) % p);
    }
    // END SOLUTION
}

void collectives::chain_broadcast(Comm& comm, Buffer values, int root, int segments)
{
    check_root(comm, root);
    check(segments >= 1, "broadcast in {} segments: expected at least 1", segments);
    // BEGIN SOLUTION 03.4 chain_broadcast
    const int p = comm.size();
    const int distance = (comm.rank() - root + p) % p;
    const auto segment = [&](int index) {
        const Chunk run = chunk_of(values.count, segments, index);
        return values.part(run.offset, run.count);
    };
    const bool receives = distance > 0;
    const bool sends = distance < p - 1;
    const int left = (comm.rank() - 1 + p) % p;
    const int right = (comm.rank() + 1) % p;
    Request arriving;
    if (receives) arriving = comm.irecv(segment(0), left);
    for (int i = 0; i < segments; ++i) {
        arriving.wait();
        if (receives && i + 1 < segments) arriving = comm.irecv(segment(i + 1), left);
        if (sends) comm.send(segment(i), right);
    }
    // END SOLUTION
}

int collectives::best_segments(const Link& link, int ranks, double bytes)
{
    check(link.latency > 0.0, "the best number of segments: expected a link with a latency above 0");
    // BEGIN SOLUTION 03.4 best_segments
    const auto seconds = [&](int segments) {
        return (ranks - 2 + segments) * link.seconds(bytes / segments);
    };
    const double carrying = bytes / link.bandwidth;
    const double best = std::sqrt(std::max(0, ranks - 2) * carrying / link.latency);
    const int below = std::max(1, static_cast<int>(best));
    return seconds(below + 1) < seconds(below) ? below + 1 : below;
    // END SOLUTION
}
