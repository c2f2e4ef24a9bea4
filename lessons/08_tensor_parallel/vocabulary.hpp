// 08.3 The token embedding and the cross-entropy over a vocabulary that is cut over the group: rank r has the
// entries chunk_of(V, T_group, r), so that any vocabulary can be cut.
#pragma once

#include <span>

#include "lessons/03_collectives/ring.hpp"
#include "lessons/08_tensor_parallel/boundary.hpp"

namespace tensor_parallel {

/// y[b, t] = wte[ids[b, t]] + wpe[t], as outside: every rank looks up the tokens of its entries, and rank 0
/// adds the positions. wte_rows (V_r, h) are the own entries, `entries` which they are; wpe (at least T, h)
/// is replicated. Ids must be in the vocabulary: one that is not is on no rank, and nobody notices.
Tensor embedding_forward(Boundary& boundary, const MicroBatch& batch, const collectives::Chunk& entries,
                         const Tensor& wte_rows, const Tensor& wpe);
void embedding_backward(Boundary& boundary, const MicroBatch& batch, const collectives::Chunk& entries,
                        const Tensor& dy, Tensor& dwte_rows, Tensor& dwpe);

struct CrossEntropy {
    Tensor loss;             // one fp64 number, the same on every rank
    Tensor log_denominator;  // of each row, over the whole vocabulary; in the dtype of the computation
};

/// Lesson 01.6's cross-entropy of rows whose logits lie on the ranks of the group, logits_local (R, V_r).
/// Only one number a row and rank travels, log Σ_(own entries) exp(logit), and one loss: never a logit.
CrossEntropy cross_entropy_forward(Comm& group, const collectives::Chunk& entries, const Tensor& logits_local,
                                   std::span<const std::int32_t> targets, double weight);
/// Returns dlogits_local in the memory of the logits.
Tensor cross_entropy_backward(const collectives::Chunk& entries, double dloss, Tensor logits_local,
                              const Tensor& log_denominator, std::span<const std::int32_t> targets,
                              double weight);

}  // namespace tensor_parallel
