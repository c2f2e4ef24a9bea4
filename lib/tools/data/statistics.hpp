// How well counting bytes predicts a text: the two figures that a trained model is compared with.
#pragma once

#include "lib/tools/data/text.hpp"

namespace shardlings {

/// Bits per byte on the validation split x_0 … x_{n−1}, of models counted on the training split: N bytes, n_b
/// of them b, n_ab pairs of an a and a b right after it. Laplace's rule, one more of each of the 256 bytes,
/// keeps probabilities above 0. Both predict the bytes that a language model predicts on this split, x_1 …
/// x_{n−1}:
///   order_0 = −1/(n−1) Σ_{i≥1} log2 p(x_i)              p(b) = (n_b + 1) / (N + 256)
///   bigram  = −1/(n−1) Σ_{i≥1} log2 p(x_i | x_{i−1})    p(b|a) = (n_ab + 1) / (Σ_c n_ac + 256)
struct TextStatistics {
    double order_0 = 0.0;
    double bigram = 0.0;
};

/// Error when the validation split has fewer than two bytes.
TextStatistics measure_statistics(const Text& text);

}  // namespace shardlings
