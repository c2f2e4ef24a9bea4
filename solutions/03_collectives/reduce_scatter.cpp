#include <algorithm>

#include "lessons/03_collectives/ring.hpp"
#include "lib/machine/tensor/arithmetic.hpp"

using namespace collectives;

Chunk collectives::chunk_of(std::int64_t n, int parts, int index)
{
    check(n >= 0 && parts >= 1 && index >= 0 && index < parts,
          "chunk {} of {} elements in {} parts: expected 0 or more elements, at least 1 part and a chunk "
          "below that",
          index, n, parts);
    // BEGIN SOLUTION 03.1 chunk_of
    const std::int64_t length = n / parts;
    const std::int64_t longer = n % parts;
    return {index * length + std::min<std::int64_t>(index, longer), length + (index < longer ? 1 : 0)};
    // END SOLUTION
}

void collectives::ring_reduce_scatter(Comm& comm, Buffer values)
{
    // BEGIN SOLUTION 03.1 ring_reduce_scatter
    const int p = comm.size();
    const int r = comm.rank();
    for (int step = 0; step < p - 1; ++step) {
        const Chunk out = chunk_of(values.count, p, (r - 1 - step + p) % p);
        const Chunk in = chunk_of(values.count, p, (r - 2 - step + 2 * p) % p);
        const auto add_piece = [&](std::int64_t offset, ConstBuffer piece) {
            add(piece, values.part(in.offset + offset, piece.count));
        };
        comm.exchange_pieces(values.part(out.offset, out.count), (r + 1) % p, in.count, (r - 1 + p) % p,
                             add_piece);
    }
    // END SOLUTION
}
