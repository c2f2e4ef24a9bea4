#include "lessons/08_tensor_parallel/vocabulary.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lessons/01_transformer/cross_entropy.hpp"
#include "lessons/03_collectives/recursive_doubling.hpp"
#include "lib/machine/base/error.hpp"
#include "lib/machine/tensor/eigen.hpp"
#include "lib/machine/tensor/real.hpp"

using namespace tensor_parallel;
using collectives::Chunk;

namespace {

/// The place of a token among the own entries, or −1.
std::int32_t local(const Chunk& entries, std::int32_t token)
{
    const std::int64_t place = token - entries.offset;
    return token >= 0 && place >= 0 && place < entries.count ? static_cast<std::int32_t>(place) : -1;
}

}  // namespace

Tensor tensor_parallel::embedding_forward(Boundary& boundary, const MicroBatch& batch, const Chunk& entries,
                                          const Tensor& wte_rows, const Tensor& wpe)
{
    check(batch.tokens <= wpe.rows(), "a sequence of {} tokens does not fit the model's {} positions",
          batch.tokens, wpe.rows());
    Tensor y(wpe.device(), {batch.sequences, batch.tokens, wpe.columns()}, wpe.dtype(),
             Category::activations);
    with_real(wpe.dtype(), [&](auto zero) {
        using Real = decltype(zero);
        const Input<Real> wte_(wte_rows), wpe_(wpe);
        const Output<Real> y_(y);
        // Your code: see lessons/08_tensor_parallel/vocabulary.hpp (hints: make hint-08 PART=08.3)
        not_implemented("08.3 embedding_forward");
    });
    return boundary.leave(std::move(y));
}

void tensor_parallel::embedding_backward(Boundary& boundary, const MicroBatch& batch, const Chunk& entries,
                                         const Tensor& dy, Tensor& dwte_rows, Tensor& dwpe)
{
    const Tensor all = boundary.leave_backward(batch, dy);
    with_real(dwpe.dtype(), [&](auto zero) {
        using Real = decltype(zero);
        const Input<Real> dy_(all);
        const Update<Real> dwte_(dwte_rows), dwpe_(dwpe);
        // Your code: see lessons/08_tensor_parallel/vocabulary.hpp (hints: make hint-08 PART=08.3)
        not_implemented("08.3 embedding_backward");
    });
}

CrossEntropy tensor_parallel::cross_entropy_forward(Comm& group, const Chunk& entries,
                                                    const Tensor& logits_local,
                                                    std::span<const std::int32_t> targets, double weight)
{
    std::vector<std::int32_t> own_targets;
    for (const std::int32_t target : targets) own_targets.push_back(local(entries, target));
    // Σ_(rows with an own target) (log denominator of the own entries − target's logit), and those
    // denominators
    transformer::CrossEntropyOutput own = transformer::cross_entropy_forward(logits_local, own_targets, 1.0);
    CrossEntropy out{std::move(own.loss), make_like(own.log_denominator, Category::activations)};
    with_real(logits_local.dtype(), [&](auto zero) {
        using Real = decltype(zero);
        // Your code: see lessons/08_tensor_parallel/vocabulary.hpp (hints: make hint-08 PART=08.3)
        not_implemented("08.3 cross_entropy_forward");
    });
    return out;
}

Tensor tensor_parallel::cross_entropy_backward(const Chunk& entries, double dloss, Tensor logits_local,
                                               const Tensor& log_denominator,
                                               std::span<const std::int32_t> targets, double weight)
{
    with_real(logits_local.dtype(), [&](auto zero) {
        using Real = decltype(zero);
        const Update<Real> dlogits_(logits_local);  // the logits until they are overwritten
        const Input<Real> log_denominator_(log_denominator);
        // Your code: see lessons/08_tensor_parallel/vocabulary.hpp (hints: make hint-08 PART=08.3)
        not_implemented("08.3 cross_entropy_backward");
    });
    return logits_local;
}
