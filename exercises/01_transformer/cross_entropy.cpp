#include "lessons/01_transformer/cross_entropy.hpp"

#include <cmath>

#include "lib/machine/base/error.hpp"
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
        // Your code: see lessons/01_transformer/cross_entropy.hpp (hints: make hint-01 PART=01.6)
        not_implemented("01.6 cross_entropy_forward");
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
        // Your code: see lessons/01_transformer/cross_entropy.hpp (hints: make hint-01 PART=01.6)
        not_implemented("01.6 cross_entropy_backward");
    });
    return logits;
}
