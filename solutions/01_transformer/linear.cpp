#include "lessons/01_transformer/linear.hpp"

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
        // BEGIN SOLUTION 01.1 linear_forward
        array(y_.matrix()).rowwise() = array(b_.span());
        gemm(x.device(), Real(1), x_.matrix(), w_.matrix(), Real(1), y_.matrix());
        // END SOLUTION
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
        // BEGIN SOLUTION 01.1 linear_backward
        // y = x w + b
        gemm(x.device(), Real(1), dy_.matrix(), transpose(w_.matrix()), Real(0), dx_.matrix());
        gemm(x.device(), Real(1), transpose(x_.matrix()), dy_.matrix(), Real(1), dw_.matrix());
        for (std::int64_t i = 0; i < dy.rows(); ++i) array(db_.span()) += array(dy_.matrix().row(i));
        // END SOLUTION
    });
    return dx;
}
