#include "lessons/01_transformer/embedding.hpp"

#include "lib/machine/base/error.hpp"
#include "lib/machine/tensor/eigen.hpp"
#include "lib/machine/tensor/real.hpp"

using namespace transformer;

Tensor transformer::embedding_forward(std::span<const std::int32_t> ids, std::int64_t sequences,
                                      const Tensor& wte, const Tensor& wpe)
{
    const std::int64_t tokens = static_cast<std::int64_t>(ids.size()) / sequences;
    check(tokens <= wpe.rows(), "a sequence of {} tokens does not fit the model's {} positions", tokens,
          wpe.rows());
    for (const std::int32_t id : ids)
        check(id >= 0 && id < wte.rows(), "token {} is outside the vocabulary: expected 0 to {}", id,
              wte.rows() - 1);
    Tensor y(wte.device(), {sequences, tokens, wte.columns()}, wte.dtype(), Category::activations);
    with_real(wte.dtype(), [&](auto zero) {
        using Real = decltype(zero);
        const Input<Real> wte_(wte), wpe_(wpe);
        const Output<Real> y_(y);
        // Your code: see lessons/01_transformer/embedding.hpp (hints: make hint-01 PART=01.5)
        not_implemented("01.5 embedding_forward");
    });
    return y;
}

void transformer::embedding_backward(const Tensor& dy, std::span<const std::int32_t> ids, Tensor& dwte,
                                     Tensor& dwpe)
{
    const std::int64_t tokens = dy.dim(1);
    with_real(dy.dtype(), [&](auto zero) {
        using Real = decltype(zero);
        const Input<Real> dy_(dy);
        const Update<Real> dwte_(dwte), dwpe_(dwpe);
        // Your code: see lessons/01_transformer/embedding.hpp (hints: make hint-01 PART=01.5)
        not_implemented("01.5 embedding_backward");
    });
}
