// Case operations on column- and row-parallel linear layers.
#pragma once

#include "lessons/08_tensor_parallel/linear.hpp"
#include "tests/08_tensor_parallel/driver_boundary.hpp"

namespace tensor_parallel_test {

/// Output y, and the inputs as they are afterwards.
template <class Forward>
void linear_forward(Case& c, const Forward& forward)
{
    Comm group = group_of(c);
    const std::unique_ptr<Boundary> boundary = boundary_of(c, group);
    const Tensor x = c.tensor("x"), w = c.tensor("w"), b = c.tensor("b");
    c.start_measuring();
    const Tensor y = forward(*boundary, x, w, b);
    c.stop_measuring();
    c.put("y", y);
    c.put("x", x);
    c.put("w", w);
    c.put("b", b);
}

/// Outputs dx, dw, db, and the inputs as they are afterwards.
template <class Backward>
void linear_backward(Case& c, const Backward& backward)
{
    Comm group = group_of(c);
    const std::unique_ptr<Boundary> boundary = boundary_of(c, group);
    const Tensor dy = c.tensor("dy"), x = c.tensor("x"), w = c.tensor("w");
    Tensor dw = c.tensor("dw"), db = c.tensor("db");
    c.start_measuring();
    const Tensor dx = backward(*boundary, batch_of(c), dy, x, w, dw, db);
    c.stop_measuring();
    c.put("dx", dx);
    c.put("dw", dw);
    c.put("db", db);
    c.put("dy", dy);
    c.put("x", x);
    c.put("w", w);
}

inline void column_forward(Case& c)
{
    linear_forward(c, [&](Boundary& boundary, const Tensor& x, const Tensor& w, const Tensor& b) {
        return column_parallel_forward(boundary, batch_of(c), x, w, b);
    });
}

inline void column_backward(Case& c)
{
    linear_backward(c, column_parallel_backward);
}

inline void row_forward(Case& c)
{
    linear_forward(c, row_parallel_forward);
}

inline void row_backward(Case& c)
{
    linear_backward(c, row_parallel_backward);
}

}  // namespace tensor_parallel_test
