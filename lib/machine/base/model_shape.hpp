// The sizes of a GPT-2 style Transformer.
#pragma once

#include <cstdint>

namespace shardlings {

/// L layers, h hidden, a heads, T tokens per sequence, V vocabulary; the MLP is 4h wide.
struct ModelShape {
    std::int64_t layers = 4;
    std::int64_t hidden = 256;
    std::int64_t heads = 4;
    std::int64_t sequence = 128;
    std::int64_t vocabulary = 256;

    std::int64_t head_size() const { return hidden / heads; }
    std::int64_t mlp() const { return 4 * hidden; }

    /// X = L (12 h^2 + 13 h) + V h + T h + 2 h: the matrices, biases and layer norms of every block, the
    /// token and position embeddings, the last layer norm. The output layer is the token embedding (tied).
    std::int64_t parameters() const;

    /// Error unless every size is positive and small enough, and the heads divide the hidden size.
    void validate() const;

    bool operator==(const ModelShape&) const = default;
};

}  // namespace shardlings
