#include "lessons/01_transformer/cross_entropy.hpp"

#include <cmath>

#include "lib/machine/tensor/eigen.hpp"
#include "lib/machine/tensor/real.hpp"

using namespace transformer;

transformer::CrossEntropyOutput transformer::cross_entropy_forward(const Tensor& logits,
                                                                   std::span<const std::int32_t> targets,
                                                                   double weight)
{
    check(static_cast<std::int64_t>(targets.size()) == logits.rows(), "{} targets for {} rows of logits",
          targets.size(), logits.rows());
    for (const std::int32_t target : targets)
        check(target >= -1 && target < logits.columns(),
              "target {} is outside the vocabulary: expected 0 to {}, or -1 where nothing is predicted",
              target, logits.columns() - 1);
    const DType sum_dtype = logits.dtype() == DType::fp64 ? DType::fp64 : DType::fp32;
    CrossEntropyOutput out{Tensor(logits.device(), {1}, DType::fp64, Category::activations),
                           Tensor(logits.device(), {logits.rows()}, sum_dtype, Category::activations)};
    with_real(logits.dtype(), [&](auto zero) {
        using Real = decltype(zero);
        const Input<Real> logits_(logits);
        const Output<Real> log_denominator_(out.log_denominator);
        // BEGIN SOLUTION 01.6 cross_entropy_forward
        double sum = 0.0;
        for (std::int64_t i = 0; i < logits.rows(); ++i) {
            const auto target = targets[static_cast<std::size_t>(i)];
            const auto row = array(logits_.matrix().row(i));
            const Real largest = row.maxCoeff();
            const Real log_denominator = largest + std::log((row - largest).exp().sum());
            log_denominator_.span()[static_cast<std::size_t>(i)] = log_denominator;
            if (target >= 0) sum += static_cast<double>(log_denominator - row[target]);
        }
        out.loss.span<double>()[0] = weight * sum;
        // END SOLUTION
    });
    return out;
}

Tensor transformer::cross_entropy_backward(double dloss, Tensor logits, const Tensor& log_denominator,
                                           std::span<const std::int32_t> targets, double weight)
{
    with_real(logits.dtype(), [&](auto zero) {
        using Real = decltype(zero);
        const Update<Real> dlogits_(logits);  // the logits until they are overwritten
        const Input<Real> log_denominator_(log_denominator);
        // BEGIN SOLUTION 01.6 cross_entropy_backward
        // loss = weight Σ_rows (log Σ_j exp(logits[row, j]) − logits[row, target])
        const Real factor = static_cast<Real>(dloss * weight);
        for (std::int64_t i = 0; i < logits.rows(); ++i) {
            const auto target = targets[static_cast<std::size_t>(i)];
            auto row = array(dlogits_.matrix().row(i));
            if (target < 0) {
                row.setZero();
                continue;
            }
            row = factor * (row - log_denominator_.span()[static_cast<std::size_t>(i)]).exp();
            row[target] -= factor;
        }
        // END SOLUTION
    });
    return logits;
}
