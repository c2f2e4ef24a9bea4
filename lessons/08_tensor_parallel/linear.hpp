// 08.2 Linear layers cut over the group. Shapes: outside as the boundary says; inside (B, T, …).
#pragma once

#include "lessons/08_tensor_parallel/boundary.hpp"

namespace tensor_parallel {

/// y_column = x w_column + b_column: every rank has m / T_group columns of w and of the bias, and of y.
/// x is outside.
Tensor column_parallel_forward(Boundary& boundary, const MicroBatch& batch, const Tensor& x,
                               const Tensor& w_column, const Tensor& b_column);
/// Returns dx, as outside; adds the own columns' gradients. x enters again: what entered forward is not kept.
Tensor column_parallel_backward(Boundary& boundary, const MicroBatch& batch, const Tensor& dy_column,
                                const Tensor& x, const Tensor& w_column, Tensor& dw_column,
                                Tensor& db_column);

/// y = Σ_ranks x_column w_row + b: every rank has n / T_group rows of w and the matching columns of x; b
/// is replicated, and added once. y is outside.
Tensor row_parallel_forward(Boundary& boundary, const Tensor& x_column, const Tensor& w_row, const Tensor& b);
/// Returns dx_column; adds the own rows' gradients to dw_row, and db, the same on every rank.
Tensor row_parallel_backward(Boundary& boundary, const MicroBatch& batch, const Tensor& dy,
                             const Tensor& x_column, const Tensor& w_row, Tensor& dw_row, Tensor& db);

}  // namespace tensor_parallel
