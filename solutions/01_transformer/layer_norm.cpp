#include "lessons/01_transformer/layer_norm.hpp"

#include <cmath>

#include "lib/machine/tensor/eigen.hpp"
#include "lib/machine/tensor/real.hpp"

using namespace transformer;

namespace {

Tensor make_statistics(const Tensor& x)
{
    const DType dtype = x.dtype() == DType::fp64 ? DType::fp64 : DType::fp32;
    return Tensor(x.device(), {x.rows()}, dtype, Category::activations);
}

}  // namespace

transformer::LayerNormOutput transformer::layer_norm_forward(const Tensor& x, const Tensor& gain,
                                                             const Tensor& bias)
{
    LayerNormOutput out{make_like(x, Category::activations), make_statistics(x), make_statistics(x)};
    with_real(x.dtype(), [&](auto zero) {
        using Real = decltype(zero);
        const Input<Real> x_(x), gain_(gain), bias_(bias);
        const Output<Real> y_(out.y), mean_(out.mean), rstd_(out.rstd);
        // BEGIN SOLUTION 01.3 layer_norm_forward
        for (std::int64_t i = 0; i < x.rows(); ++i) {
            const auto row = array(x_.matrix().row(i));
            const auto y = y_.matrix().row(i);
            const Real mean = row.mean();
            array(y) = row - mean;
            const Real rstd = Real(1) / std::sqrt(array(y).square().mean() + Real(layer_norm_epsilon));
            array(y) = array(y) * rstd * array(gain_.span()) + array(bias_.span());
            mean_.span()[static_cast<std::size_t>(i)] = mean;
            rstd_.span()[static_cast<std::size_t>(i)] = rstd;
        }
        // END SOLUTION
    });
    return out;
}

Tensor transformer::layer_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& gain,
                                        const Tensor& mean, const Tensor& rstd, Tensor& dgain, Tensor& dbias)
{
    Tensor dx = make_like(x, Category::activations);
    with_real(x.dtype(), [&](auto zero) {
        using Real = decltype(zero);
        const Input<Real> dy_(dy), x_(x), gain_(gain), mean_(mean), rstd_(rstd);
        const Output<Real> dx_(dx);
        const Update<Real> dgain_(dgain), dbias_(dbias);
        // BEGIN SOLUTION 01.3 layer_norm_backward
        // y = x̂ gain + bias, x̂ = (x − mean) rstd
        EigenRow<Real> normalised(x.columns()), g(x.columns());
        for (std::int64_t i = 0; i < x.rows(); ++i) {
            const Real row_rstd = rstd_.span()[static_cast<std::size_t>(i)];
            const auto dy_row = array(dy_.matrix().row(i));
            normalised = (array(x_.matrix().row(i)) - mean_.span()[static_cast<std::size_t>(i)]) * row_rstd;
            g = dy_row * array(gain_.span());
            array(dgain_.span()) += dy_row * normalised;
            array(dbias_.span()) += dy_row;
            array(dx_.matrix().row(i)) = row_rstd * (g - g.mean() - normalised * (g * normalised).mean());
        }
        // END SOLUTION
    });
    return dx;
}
