#include "lessons/01_transformer/attention.hpp"

#include <cmath>

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
                // BEGIN SOLUTION 01.4 attention_forward
                const auto q = part_of(qkv_.matrix(), s, b, head, 0);
                const auto k = part_of(qkv_.matrix(), s, b, head, 1);
                const auto v = part_of(qkv_.matrix(), s, b, head, 2);
                const auto p = square_of(probabilities_.matrix(), s, b, head);
                gemm(device, scale, q, transpose(k), Real(0), p);
                for (std::int64_t i = 0; i < s.tokens; ++i) {
                    auto row = array(p.row(i));
                    const auto seen = row.head(i + 1);
                    row = (row - seen.maxCoeff()).exp();  // of the future too: whole vectors are faster
                    row.tail(s.tokens - i - 1).setZero();
                    row *= Real(1) / seen.sum();
                }
                gemm(device, Real(1), p, v, Real(0), part_of(y_.matrix(), s, b, head));
                // END SOLUTION
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
                // BEGIN SOLUTION 01.4 attention_backward
                const auto q = part_of(qkv_.matrix(), s, b, head, 0);
                const auto k = part_of(qkv_.matrix(), s, b, head, 1);
                const auto v = part_of(qkv_.matrix(), s, b, head, 2);
                const auto p = square_of(probabilities_.matrix(), s, b, head);
                const auto dy_head = part_of(dy_.matrix(), s, b, head);
                const auto dp = dp_.matrix();
                // y = p v
                gemm(device, Real(1), transpose(p), dy_head, Real(0), part_of(dqkv_.matrix(), s, b, head, 2));
                gemm(device, Real(1), dy_head, transpose(v), Real(0), dp);
                // p = softmax(scale q kᵀ): from here on dp holds d(q kᵀ)
                for (std::int64_t i = 0; i < s.tokens; ++i) {
                    const auto p_row = array(p.row(i));
                    auto dp_row = array(dp.row(i));
                    dp_row = scale * p_row * (dp_row - (dp_row * p_row).sum());
                }
                gemm(device, Real(1), dp, k, Real(0), part_of(dqkv_.matrix(), s, b, head, 0));
                gemm(device, Real(1), transpose(dp), q, Real(0), part_of(dqkv_.matrix(), s, b, head, 1));
                // END SOLUTION
            }
    });
    return dqkv;
}
