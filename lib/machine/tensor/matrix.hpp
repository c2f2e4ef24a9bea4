// Matrices: views of elements as rows and columns, and the product, which BLAS computes and the clock is
// charged for.
#pragma once

#include <cstdint>
#include <span>

#include "lib/machine/device/device.hpp"

namespace shardlings {

/// Element (i, j) is data[i * stride + j]. A view; somebody else owns the elements. Real is float or double,
/// const where the matrix is only read.
template <class Real>
struct Matrix {
    Real* data = nullptr;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t stride = 0;

    Matrix() = default;
    Matrix(Real* first, std::int64_t row_count, std::int64_t column_count, std::int64_t row_stride)
        : data(first), rows(row_count), columns(column_count), stride(row_stride)
    {
    }
    Matrix(Real* first, std::int64_t row_count, std::int64_t column_count)
        : Matrix(first, row_count, column_count, column_count)
    {
    }

    Real& operator()(std::int64_t i, std::int64_t j) const { return data[i * stride + j]; }
    std::span<Real> row(std::int64_t i) const
    {
        return {data + i * stride, static_cast<std::size_t>(columns)};
    }
    /// Rows [i, i + row_count) of columns [j, j + column_count).
    Matrix block(std::int64_t i, std::int64_t j, std::int64_t row_count, std::int64_t column_count) const
    {
        return {data + i * stride + j, row_count, column_count, stride};
    }
    operator Matrix<const Real>() const { return {data, rows, columns, stride}; }
};

/// A matrix as an operand of a product: itself, or transposed.
template <class Real>
struct Operand {
    Matrix<const Real> matrix;
    bool transposed = false;

    Operand(Matrix<const Real> m) : matrix(m) {}
    Operand(Matrix<Real> m) : matrix(m) {}
    Operand(Matrix<const Real> m, bool transpose) : matrix(m), transposed(transpose) {}
    std::int64_t rows() const { return transposed ? matrix.columns : matrix.rows; }
    std::int64_t columns() const { return transposed ? matrix.rows : matrix.columns; }
};

inline Operand<float> transpose(Matrix<const float> m)
{
    return {m, true};
}
inline Operand<double> transpose(Matrix<const double> m)
{
    return {m, true};
}

/// c = alpha a b + beta c, with a (m x k), b (k x n), c (m x n). Charges the device 2 m n k FLOPs.
/// With beta = 0, c may hold anything. Error when the shapes do not fit.
void gemm(Device& device, float alpha, Operand<float> a, Operand<float> b, float beta, Matrix<float> c);
void gemm(Device& device, double alpha, Operand<double> a, Operand<double> b, double beta, Matrix<double> c);

/// From now on this process multiplies on one thread, as a rank does under mpirun.
void use_one_blas_thread();

}  // namespace shardlings
