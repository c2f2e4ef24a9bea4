#include "lessons/08_tensor_parallel/linear.hpp"

#include "lessons/01_transformer/linear.hpp"
#include "lib/machine/base/error.hpp"

using namespace tensor_parallel;

Tensor tensor_parallel::column_parallel_forward(Boundary& boundary, const MicroBatch& batch, const Tensor& x,
                                                const Tensor& w_column, const Tensor& b_column)
{
    // Your code: see lessons/08_tensor_parallel/linear.hpp (hints: make hint-08 PART=08.2)
    not_implemented("08.2 column_parallel_forward");
}

Tensor tensor_parallel::column_parallel_backward(Boundary& boundary, const MicroBatch& batch,
                                                 const Tensor& dy_column, const Tensor& x,
                                                 const Tensor& w_column, Tensor& dw_column, Tensor& db_column)
{
    // Your code: see lessons/08_tensor_parallel/linear.hpp (hints: make hint-08 PART=08.2)
    not_implemented("08.2 column_parallel_backward");
}

Tensor tensor_parallel::row_parallel_forward(Boundary& boundary, const Tensor& x_column, const Tensor& w_row,
                                             const Tensor& b)
{
    // Your code: see lessons/08_tensor_parallel/linear.hpp (hints: make hint-08 PART=08.2)
    not_implemented("08.2 row_parallel_forward");
}

Tensor tensor_parallel::row_parallel_backward(Boundary& boundary, const MicroBatch& batch, const Tensor& dy,
                                              const Tensor& x_column, const Tensor& w_row, Tensor& dw_row,
                                              Tensor& db)
{
    // Your code: see lessons/08_tensor_parallel/linear.hpp (hints: make hint-08 PART=08.2)
    not_implemented("08.2 row_parallel_backward");
}
