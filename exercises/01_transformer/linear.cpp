#include "lessons/01_transformer/linear.hpp"

#include "lib/machine/base/error.hpp"
#include "lib/machine/tensor/eigen.hpp"
#include "lib/machine/tensor/real.hpp"

using namespace transformer;

namespace {

Shape with_columns(Shape shape, std::int64_t columns)
{
    shape.back() = columns;
    return shape;
}

}  // namespace

Tensor transformer::linear_forward(const Tensor& x, const Tensor& w, const Tensor& b)
{
    Tensor y(x.device(), with_columns(x.shape(), w.columns()), x.dtype(), Category::activations);
    with_real(x.dtype(), [&](auto zero) {
        using Real = decltype(zero);
        const Input<Real> x_(x), w_(w), b_(b);
        const Output<Real> y_(y);
        // Your code: see lessons/01_transformer/linear.hpp (hints: make hint-01 PART=01.1)
        not_implemented("01.1 linear_forward");
    });
    return y;
}

Tensor transformer::linear_backward(const Tensor& dy, const Tensor& x, const Tensor& w, Tensor& dw,
                                    Tensor& db)
{
    Tensor dx = make_like(x, Category::activations);
    with_real(x.dtype(), [&](auto zero) {
        using Real = decltype(zero);
        const Input<Real> dy_(dy), x_(x), w_(w);
        const Output<Real> dx_(dx);
        const Update<Real> dw_(dw), db_(db);
        // Your code: see lessons/01_transformer/linear.hpp (hints: make hint-01 PART=01.1)
        not_implemented("01.1 linear_backward");
    });
    return dx;
}
