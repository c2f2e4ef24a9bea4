// Case operations on boundaries.
#pragma once

#include "lessons/08_tensor_parallel/boundary.hpp"
#include "lib/tools/grade/driver.hpp"

namespace tensor_parallel_test {

using namespace grade;
using namespace tensor_parallel;

/// The group in which this rank is number "key".
inline Comm group_of(Case& c)
{
    return c.comm().split(0, static_cast<int>(c.integer("key")));
}

inline std::unique_ptr<Boundary> boundary_of(Case& c, Comm& group)
{
    return c.text("boundary") == "sequence" ? make_sequence_boundary(group) : make_replicated_boundary(group);
}

inline MicroBatch batch_of(Case& c)
{
    MicroBatch batch;
    batch.sequences = c.integer("sequences");
    batch.tokens = c.integer("tokens");
    return batch;
}

/// "refusal": the message of the Error with which the call refuses its arguments.
template <class Function>
void put_refusal(Case& c, const Function& call)
{
    try {
        call();
        c.put("accepted", 1.0);
    } catch (const NotImplemented&) {
        throw;
    } catch (const Error& error) {
        c.put("refusal", std::string(error.what()));
    }
}

/// One of the boundary's functions on x. Output y; x too where it is not taken over.
inline void boundary(Case& c)
{
    Comm group = group_of(c);
    const std::unique_ptr<Boundary> boundary = boundary_of(c, group);
    const MicroBatch batch = batch_of(c);
    const std::string function = c.text("function");
    Tensor x = c.tensor("x");
    c.start_measuring();
    Tensor y;
    if (function == "enter") y = boundary->enter(batch, x);
    if (function == "enter_backward") y = boundary->enter_backward(std::move(x));
    if (function == "leave") y = boundary->leave(std::move(x));
    if (function == "leave_backward") y = boundary->leave_backward(batch, x);
    if (function == "sum_over_rows") boundary->sum_over_rows(x);
    c.stop_measuring();
    c.put("first_row", static_cast<double>(boundary->first_row(batch)));
    if (!y.empty()) c.put("y", y);
    if (!x.empty()) c.put("x", x);
}

}  // namespace tensor_parallel_test
