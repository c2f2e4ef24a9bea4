#include "lessons/06_pipeline/stages.hpp"

#include <algorithm>
#include <limits>

#include "lib/machine/base/error.hpp"

using namespace pipeline;

double pipeline::block_flops(const ModelShape& shape)
{
    const auto h = static_cast<double>(shape.hidden);
    // Your code: see lessons/06_pipeline/stages.hpp (hints: make hint-06 PART=06.1)
    not_implemented("06.1 block_flops");
}

double pipeline::head_flops(const ModelShape& shape)
{
    // Your code: see lessons/06_pipeline/stages.hpp (hints: make hint-06 PART=06.1)
    not_implemented("06.1 head_flops");
}

std::vector<std::int64_t> pipeline::balance_blocks(const ModelShape& shape, int chunks)
{
    check(chunks >= 1 && chunks <= shape.layers,
          "{} layers cannot be cut into {} pipeline chunks of at least one: choose --pp times "
          "--virtual-stages of at "
          "most {}",
          shape.layers, chunks, shape.layers);
    std::vector<std::int64_t> blocks;
    // Your code: see lessons/06_pipeline/stages.hpp (hints: make hint-06 PART=06.1)
    not_implemented("06.1 balance_blocks");
    return blocks;
}
