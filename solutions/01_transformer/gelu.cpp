#include "lessons/01_transformer/gelu.hpp"

#include <cmath>

#include "lib/machine/tensor/eigen.hpp"
#include "lib/machine/tensor/real.hpp"

using namespace transformer;

namespace {

const double sqrt_two_over_pi = std::sqrt(2.0 / 3.14159265358979323846);
constexpr double cubic = 0.044715;

}  // namespace

Tensor transformer::gelu_forward(const Tensor& x)
{
    Tensor y = make_like(x, Category::activations);
    with_real(x.dtype(), [&](auto zero) {
        using Real = decltype(zero);
        const Input<Real> x_(x);
        const Output<Real> y_(y);
        // BEGIN SOLUTION 01.2 gelu_forward
        const auto a = array(x_.span());
        // (1 + tanh(u)) / 2 = 1 / (1 + exp(−2u)), which needs one exponential and cancels nothing.
        const auto two_u = Real(2 * sqrt_two_over_pi) * a * (Real(1) + Real(cubic) * a.square());
        array(y_.span()) = a / (Real(1) + (-two_u).exp());
        // END SOLUTION
    });
    return y;
}

Tensor transformer::gelu_backward(const Tensor& dy, const Tensor& x)
{
    Tensor dx = make_like(x, Category::activations);
    with_real(x.dtype(), [&](auto zero) {
        using Real = decltype(zero);
        const Input<Real> dy_(dy), x_(x);
        const Output<Real> dx_(dx);
        // BEGIN SOLUTION 01.2 gelu_backward
        // y = x s(2u), s the logistic function, so dy/dx = s + x s (1 − s) 2u'.
        const auto a = array(x_.span());
        auto s = array(dx_.span());
        s = (Real(1) + (Real(-2 * sqrt_two_over_pi) * a * (Real(1) + Real(cubic) * a.square())).exp())
                .inverse();
        const auto two_u_slope = Real(2 * sqrt_two_over_pi) * (Real(1) + Real(3 * cubic) * a.square());
        s = array(dy_.span()) * s * (Real(1) + a * (Real(1) - s) * two_u_slope);
        // END SOLUTION
    });
    return dx;
}
