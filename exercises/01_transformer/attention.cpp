#include "lessons/01_transformer/attention.hpp"

#include <cmath>

#include "lib/machine/base/error.hpp"
#include "lib/machine/tensor/eigen.hpp"
#include "lib/machine/tensor/real.hpp"

using namespace transformer;

namespace {

/// The sizes that follow from qkv (B, T, 3h) and the number of heads.
struct Sizes {
    std::int64_t sequences, tokens, hidden, heads, head_size;

    Sizes(const Tensor& qkv, std::int64_t head_count)
        : sequences(qkv.dim(0)),
          tokens(qkv.dim(1)),
          hidden(qkv.dim(2) / 3),
          heads(head_count),
          head_size(hidden / head_count)
    {
    }
};

/// The (T, d) part of a (B T, …) matrix that belongs to one sequence and head; `third` 0, 1, 2 picks Q, K, V.
template <class Real>
Matrix<Real> part_of(Matrix<Real> m, const Sizes& s, std::int64_t sequence, std::int64_t head,
                     std::int64_t third = 0)
{
    return m.block(sequence * s.tokens, third * s.hidden + head * s.head_size, s.tokens, s.head_size);
}

/// The (T, T) probabilities of one sequence and head.
template <class Real>
Matrix<Real> square_of(Matrix<Real> m, const Sizes& s, std::int64_t sequence, std::int64_t head)
{
    return m.block((sequence * s.heads + head) * s.tokens, 0, s.tokens, s.tokens);
}

}  // namespace

transformer::AttentionOutput transformer::attention_forward(const Tensor& qkv, std::int64_t heads)
{
    const Sizes s(qkv, heads);
    Device& device = qkv.device();
    AttentionOutput out{
        Tensor(device, {s.sequences, s.tokens, s.hidden}, qkv.dtype(), Category::activations),
        Tensor(device, {s.sequences, heads, s.tokens, s.tokens}, qkv.dtype(), Category::activations)};
    with_real(qkv.dtype(), [&](auto zero) {
        using Real = decltype(zero);
        const Input<Real> qkv_(qkv);
        const Output<Real> y_(out.y), probabilities_(out.probabilities);
        const Real scale = Real(1) / std::sqrt(Real(s.head_size));
        for (std::int64_t b = 0; b < s.sequences; ++b)
            for (std::int64_t head = 0; head < heads; ++head) {
                // Your code: see lessons/01_transformer/attention.hpp (hints: make hint-01 PART=01.4)
                not_implemented("01.4 attention_forward");
            }
    });
    return out;
}

Tensor transformer::attention_backward(const Tensor& dy, const Tensor& qkv, const Tensor& probabilities,
                                       std::int64_t heads)
{
    const Sizes s(qkv, heads);
    Device& device = qkv.device();
    Tensor dqkv = make_like(qkv, Category::activations);
    with_real(qkv.dtype(), [&](auto zero) {
        using Real = decltype(zero);
        const Input<Real> dy_(dy), qkv_(qkv), probabilities_(probabilities);
        const Output<Real> dqkv_(dqkv);
        const Real scale = Real(1) / std::sqrt(Real(s.head_size));
        Tensor dp_storage(device, {s.tokens, s.tokens},
                          std::is_same_v<Real, double> ? DType::fp64 : DType::fp32, Category::workspace);
        const Output<Real> dp_(dp_storage);
        for (std::int64_t b = 0; b < s.sequences; ++b)
            for (std::int64_t head = 0; head < heads; ++head) {
                // Your code: see lessons/01_transformer/attention.hpp (hints: make hint-01 PART=01.4)
                not_implemented("01.4 attention_backward");
            }
    });
    return dqkv;
}
