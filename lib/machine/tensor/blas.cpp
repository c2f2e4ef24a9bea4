#include <cblas.h>

#include <chrono>

#include "lib/machine/base/error.hpp"
#include "lib/machine/tensor/matrix.hpp"

namespace shardlings {

namespace {

void call_blas(int m, int n, int k, float alpha, const Operand<float>& a, const Operand<float>& b, float beta,
               Matrix<float> c)
{
    cblas_sgemm(CblasRowMajor, a.transposed ? CblasTrans : CblasNoTrans,
                b.transposed ? CblasTrans : CblasNoTrans, m, n, k, alpha, a.matrix.data,
                static_cast<int>(a.matrix.stride), b.matrix.data, static_cast<int>(b.matrix.stride), beta,
                c.data, static_cast<int>(c.stride));
}

void call_blas(int m, int n, int k, double alpha, const Operand<double>& a, const Operand<double>& b,
               double beta, Matrix<double> c)
{
    cblas_dgemm(CblasRowMajor, a.transposed ? CblasTrans : CblasNoTrans,
                b.transposed ? CblasTrans : CblasNoTrans, m, n, k, alpha, a.matrix.data,
                static_cast<int>(a.matrix.stride), b.matrix.data, static_cast<int>(b.matrix.stride), beta,
                c.data, static_cast<int>(c.stride));
}

template <class Real>
void checked_gemm(Device& device, Real alpha, const Operand<Real>& a, const Operand<Real>& b, Real beta,
                  Matrix<Real> c)
{
    check(a.rows() == c.rows && b.columns() == c.columns && a.columns() == b.rows(),
          "gemm: ({} x {}) times ({} x {}) does not give ({} x {})", a.rows(), a.columns(), b.rows(),
          b.columns(), c.rows, c.columns);
    const auto m = static_cast<int>(c.rows);
    const auto n = static_cast<int>(c.columns);
    const auto k = static_cast<int>(a.columns());
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    call_blas(m, n, k, alpha, a, b, beta, c);
    device.compute(2.0 * m * n * k, std::chrono::duration<double>(Clock::now() - begin).count());
}

}  // namespace

void gemm(Device& device, float alpha, Operand<float> a, Operand<float> b, float beta, Matrix<float> c)
{
    checked_gemm(device, alpha, a, b, beta, c);
}

void gemm(Device& device, double alpha, Operand<double> a, Operand<double> b, double beta, Matrix<double> c)
{
    checked_gemm(device, alpha, a, b, beta, c);
}

void use_one_blas_thread()
{
    openblas_set_num_threads(1);
}

}  // namespace shardlings
