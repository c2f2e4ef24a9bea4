#include "lessons/06_pipeline/stages.hpp"

#include <algorithm>
#include <limits>

#include "lib/machine/base/error.hpp"

using namespace pipeline;

double pipeline::block_flops(const ModelShape& shape)
{
    const auto h = static_cast<double>(shape.hidden);
    // BEGIN SOLUTION 06.1 block_flops
    return 24.0 * h * h + 4.0 * static_cast<double>(shape.sequence) * h;
    // END SOLUTION
}

double pipeline::head_flops(const ModelShape& shape)
{
    // BEGIN SOLUTION 06.1 head_flops
    return 2.0 * static_cast<double>(shape.hidden) * static_cast<double>(shape.vocabulary);
    // END SOLUTION
}

std::vector<std::int64_t> pipeline::balance_blocks(const ModelShape& shape, int chunks)
{
    check(chunks >= 1 && chunks <= shape.layers,
          "{} layers cannot be cut into {} pipeline chunks of at least one: choose --pp times "
          "--virtual-stages of at "
          "most {}",
          shape.layers, chunks, shape.layers);
    std::vector<std::int64_t> blocks;
    // BEGIN SOLUTION 06.1 balance_blocks
    const double block = block_flops(shape);
    const double head = head_flops(shape);
    // The last chunk has `last` blocks and the head, the others share the rest as evenly as possible.
    const auto largest_cost = [&](std::int64_t last) {
        const double tail = static_cast<double>(last) * block + head;
        if (chunks == 1) return tail;
        const std::int64_t each = (shape.layers - last + chunks - 2) / (chunks - 1);
        return std::max(tail, static_cast<double>(each) * block);
    };
    double best = std::numeric_limits<double>::infinity();
    for (std::int64_t last = chunks == 1 ? shape.layers : 1; last <= shape.layers - chunks + 1; ++last)
        best = std::min(best, largest_cost(last));

    std::int64_t left = shape.layers;
    for (int chunk = 0; chunk + 1 < chunks; ++chunk) {
        const auto fit = static_cast<std::int64_t>(best / block);
        blocks.push_back(std::min(fit, left - (chunks - 1 - chunk)));
        left -= blocks.back();
    }
    blocks.push_back(left);
    // END SOLUTION
    return blocks;
}
