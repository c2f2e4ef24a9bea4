// 10.3 Floating-point operations (Hoffmann et al. 2022, appendix F; Narayanan et al. 2021, appendix).
#pragma once

#include "lessons/10_counting/job.hpp"

namespace counting {

/// Sizes of a model whose MLP and attention may be of any width: L, h, f, a, k (of a head; a k need not be
/// h), s, V. In double: FLOPs outgrow 64-bit integers.
struct FlopsShape {
    double layers, hidden, mlp, heads, head_size, sequence, vocabulary;
};
/// Given. Ours: f = 4 h, a k = h, s = T.
FlopsShape flops_shape(const ModelShape& shape);

/// Of the forward pass of one sequence of s tokens; a product of m x k and k x n takes 2 m k n. The terms of
/// a block are those of all L.
struct SequenceFlops {
    double embedding;         // 2 s V h, of the lookup as a product with one-hot rows
    double qkv;               // L 2 · 3 s h (a k)
    double attention_logits;  // L 2 s² (a k)
    double softmax;           // L 3 a s²
    double attention_sum;     // L 2 s² (a k)
    double projection;        // L 2 s (a k) h
    double mlp;               // L 2 s · 2 h f
    double output;            // 2 s h V

    /// `ends`: with the embedding's and the output's.
    double forward(bool ends) const;
    /// Forward and backward, which is twice as much.
    double training(bool ends) const { return 3.0 * forward(ends); }
};
SequenceFlops sequence_flops(const FlopsShape& shape);

/// Training FLOPs of one sequence over the rule of thumb, 6 N D with N = `parameters` and D = s tokens.
double ratio_to_6nd(const FlopsShape& shape, double parameters, bool ends);

/// FLOPs of the matrix products that a device runs in a training step, which is what its clock is charged
/// for, over the batch / dp · T tokens of its data-parallel rank. A token, forward:
///   a block   (24 h² + 4 T h) / T_p; the 4 T h are the attention's two products
///   the head  2 h V_r, of this rank's V_r entries of the vocabulary; on the last stage only
/// The backward pass takes twice as much. Recomputed: selective 4 T h / T_p of each block; full the forward
/// pass of all blocks, and with several stages of the head as well.
double device_gemm_flops(const Job& job, const Place& place);

}  // namespace counting
