#include "lessons/08_tensor_parallel/linear.hpp"

#include "lessons/01_transformer/linear.hpp"

using namespace tensor_parallel;

Tensor tensor_parallel::column_parallel_forward(Boundary& boundary, const MicroBatch& batch, const Tensor& x,
                                                const Tensor& w_column, const Tensor& b_column)
{
    // BEGIN SOLUTION 08.2 column_parallel_forward
    return transformer::linear_forward(boundary.enter(batch, x), w_column, b_column);
    // END SOLUTION
}

Tensor tensor_parallel::column_parallel_backward(Boundary& boundary, const MicroBatch& batch,
                                                 const Tensor& dy_column, const Tensor& x,
                                                 const Tensor& w_column, Tensor& dw_column, Tensor& db_column)
{
    // BEGIN SOLUTION 08.2 column_parallel_backward
    return boundary.enter_backward(
        transformer::linear_backward(dy_column, boundary.enter(batch, x), w_column, dw_column, db_column));
    // END SOLUTION
}

Tensor tensor_parallel::row_parallel_forward(Boundary& boundary, const Tensor& x_column, const Tensor& w_row,
                                             const Tensor& b)
{
    // BEGIN SOLUTION 08.2 row_parallel_forward
    if (boundary.group().rank() == 0) return boundary.leave(transformer::linear_forward(x_column, w_row, b));
    Tensor none = make_like(b, Category::workspace);
    none.fill_zero();
    return boundary.leave(transformer::linear_forward(x_column, w_row, none));
    // END SOLUTION
}

Tensor tensor_parallel::row_parallel_backward(Boundary& boundary, const MicroBatch& batch, const Tensor& dy,
                                              const Tensor& x_column, const Tensor& w_row, Tensor& dw_row,
                                              Tensor& db)
{
    // BEGIN SOLUTION 08.2 row_parallel_backward
    return transformer::linear_backward(boundary.leave_backward(batch, dy), x_column, w_row, dw_row, db);
    // END SOLUTION
}
