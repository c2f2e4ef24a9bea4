// Case operation on dropout.
#pragma once

#include "lessons/08_tensor_parallel/dropout.hpp"
#include "tests/08_tensor_parallel/driver_boundary.hpp"

namespace tensor_parallel_test {

/// Outputs x; with "refused", the error instead.
inline void dropout(Case& c)
{
    Tensor x = c.tensor("x");
    MicroBatch batch = batch_of(c);
    batch.first_sequence = c.integer("first_sequence");
    batch.step = c.integer("step");
    const Dropout dropout{c.number("probability"), static_cast<std::uint64_t>(c.integer("seed"))};
    const auto apply = [&] { apply_dropout(dropout, c.text("name"), batch, c.integer("first_row"), x); };
    c.start_measuring();
    if (c.flag("refused"))
        put_refusal(c, apply);
    else
        apply();
    c.stop_measuring();
    c.put("x", x);
}

}  // namespace tensor_parallel_test
