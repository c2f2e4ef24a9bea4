#include "lessons/08_tensor_parallel/vocabulary.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lessons/01_transformer/cross_entropy.hpp"
#include "lessons/03_collectives/recursive_doubling.hpp"
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
        // BEGIN SOLUTION 08.3 embedding_forward
        const bool adds_positions = boundary.group().rank() == 0;
        for (std::int64_t i = 0; i < y.rows(); ++i) {
            auto row = array(y_.matrix().row(i));
            if (adds_positions)
                row = array(wpe_.matrix().row(i % batch.tokens));
            else
                row.setZero();
            const std::int32_t id = local(entries, batch.inputs[static_cast<std::size_t>(i)]);
            if (id >= 0) row += array(wte_.matrix().row(id));
        }
        // END SOLUTION
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
        // BEGIN SOLUTION 08.3 embedding_backward
        for (std::int64_t i = 0; i < all.rows(); ++i) {
            const auto row = array(dy_.matrix().row(i));
            const std::int32_t id = local(entries, batch.inputs[static_cast<std::size_t>(i)]);
            if (id >= 0) array(dwte_.matrix().row(id)) += row;
            array(dwpe_.matrix().row(i % batch.tokens)) += row;
        }
        // END SOLUTION
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
        // BEGIN SOLUTION 08.3 cross_entropy_forward
        const std::int64_t rows = own.log_denominator.elements();
        Tensor all(logits_local.device(), {group.size() * rows}, own.log_denominator.dtype(),
                   Category::workspace);
        convert(std::as_const(own.log_denominator).buffer(), all.buffer().part(group.rank() * rows, rows));
        collectives::ring_all_gather(group, all.buffer());
        const auto parts = all.span<Real>();
        const auto together = out.log_denominator.span<Real>();
        double loss = out.loss.span<double>()[0];
        for (std::int64_t row = 0; row < rows; ++row) {
            const auto of_rank = [&](int rank) { return parts[static_cast<std::size_t>(rank * rows + row)]; };
            Real largest = of_rank(0);
            for (int rank = 1; rank < group.size(); ++rank) largest = std::max(largest, of_rank(rank));
            Real sum = 0;
            for (int rank = 0; rank < group.size(); ++rank) sum += std::exp(of_rank(rank) - largest);
            const Real log_denominator = largest + std::log(sum);
            together[static_cast<std::size_t>(row)] = log_denominator;
            if (own_targets[static_cast<std::size_t>(row)] >= 0)
                loss += static_cast<double>(log_denominator - of_rank(group.rank()));
        }
        loss *= weight;
        collectives::recursive_doubling_all_reduce(group, buffer_of(std::span(&loss, 1)));
        out.loss.span<double>()[0] = loss;
        // END SOLUTION
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
        // BEGIN SOLUTION 08.3 cross_entropy_backward
        const Real factor = static_cast<Real>(dloss * weight);
        for (std::int64_t i = 0; i < logits_local.rows(); ++i) {
            const std::int32_t target = targets[static_cast<std::size_t>(i)];
            auto row = array(dlogits_.matrix().row(i));
            if (target < 0) {
                row.setZero();
                continue;
            }
            row = factor * (row - log_denominator_.span()[static_cast<std::size_t>(i)]).exp();
            const std::int32_t own = local(entries, target);
            if (own >= 0) row[own] -= factor;
        }
        // END SOLUTION
    });
    return logits_local;
}
