// 06.1 Which blocks a pipeline stage holds.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/machine/base/layout.hpp"
#include "lib/machine/base/model_shape.hpp"

namespace pipeline {

using namespace shardlings;

/// FLOPs of the matrix products of a forward pass over one token: a block 24 h² + 4 T h, the head 2 h V (the
/// embedding has none).
double block_flops(const ModelShape& shape);
double head_flops(const ModelShape& shape);

/// How many of the L blocks each of `chunks` chunks of the model gets, in the model's order, at least one
/// each: the largest cost of a chunk, the head's added to the last one's, is as small as it can be, and with
/// that earlier chunks take as many blocks as they can. Error for chunks < 1 or more chunks than blocks.
std::vector<std::int64_t> balance_blocks(const ModelShape& shape, int chunks);

/// The blocks of each chunk: those that a layout names, or else balanced.
inline std::vector<std::int64_t> blocks_of(const ModelShape& shape, const Layout& layout)
{
    return layout.blocks.empty() ? balance_blocks(shape, layout.pp * layout.virtual_stages) : layout.blocks;
}

}  // namespace pipeline
