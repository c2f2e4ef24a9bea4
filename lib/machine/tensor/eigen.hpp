// Matrices and spans as Eigen arrays: the only header that brings Eigen in.
#pragma once

#include <Eigen/Core>
#include <span>

#include "lib/machine/tensor/matrix.hpp"

namespace shardlings {

template <class Real>
using EigenArray = Eigen::Array<std::remove_const_t<Real>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Real>
using EigenRow = Eigen::Array<std::remove_const_t<Real>, 1, Eigen::Dynamic>;

/// A matrix as a two-dimensional array of coefficients.
template <class Real>
auto array(Matrix<Real> m)
{
    using Plain = std::conditional_t<std::is_const_v<Real>, const EigenArray<Real>, EigenArray<Real>>;
    return Eigen::Map<Plain, 0, Eigen::OuterStride<>>(m.data, m.rows, m.columns,
                                                      Eigen::OuterStride<>(m.stride));
}

/// A row of numbers as a one-dimensional array.
template <class Real>
auto array(std::span<Real> row)
{
    using Plain = std::conditional_t<std::is_const_v<Real>, const EigenRow<Real>, EigenRow<Real>>;
    return Eigen::Map<Plain>(row.data(), static_cast<Eigen::Index>(row.size()));
}

}  // namespace shardlings
