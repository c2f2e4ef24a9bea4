// Case operations on a vocabulary in parts.
#pragma once

#include "lessons/08_tensor_parallel/vocabulary.hpp"
#include "tests/08_tensor_parallel/driver_boundary.hpp"

namespace tensor_parallel_test {

inline collectives::Chunk entries_of(Case& c)
{
    return {c.integer("first_entry"), c.integer("entries")};
}

inline void embedding_forward(Case& c)
{
    Comm group = group_of(c);
    const std::unique_ptr<Boundary> boundary = boundary_of(c, group);
    const std::vector<std::int32_t> ids = c.ids("ids");
    MicroBatch batch = batch_of(c);
    batch.inputs = ids;
    const Tensor wte = c.tensor("wte"), wpe = c.tensor("wpe");
    c.start_measuring();
    const Tensor y = tensor_parallel::embedding_forward(*boundary, batch, entries_of(c), wte, wpe);
    c.stop_measuring();
    c.put("y", y);
    c.put("wte", wte);
    c.put("wpe", wpe);
}

inline void embedding_backward(Case& c)
{
    Comm group = group_of(c);
    const std::unique_ptr<Boundary> boundary = boundary_of(c, group);
    const std::vector<std::int32_t> ids = c.ids("ids");
    MicroBatch batch = batch_of(c);
    batch.inputs = ids;
    const Tensor dy = c.tensor("dy");
    Tensor dwte = c.tensor("dwte"), dwpe = c.tensor("dwpe");
    c.start_measuring();
    tensor_parallel::embedding_backward(*boundary, batch, entries_of(c), dy, dwte, dwpe);
    c.stop_measuring();
    c.put("dy", dy);
    c.put("dwte", dwte);
    c.put("dwpe", dwpe);
}

inline void cross_entropy_forward(Case& c)
{
    Comm group = group_of(c);
    const Tensor logits = c.tensor("logits");
    const std::vector<std::int32_t> targets = c.ids("targets");
    c.start_measuring();
    const CrossEntropy out =
        tensor_parallel::cross_entropy_forward(group, entries_of(c), logits, targets, c.number("weight"));
    c.stop_measuring();
    c.put("loss", out.loss);
    c.put("log_denominator", out.log_denominator);
    c.put("logits", logits);
}

inline void cross_entropy_backward(Case& c)
{
    Tensor logits = c.tensor("logits");
    const Tensor log_denominator = c.tensor("log_denominator");
    const std::vector<std::int32_t> targets = c.ids("targets");
    c.start_measuring();
    const Tensor dlogits = tensor_parallel::cross_entropy_backward(
        entries_of(c), c.number("dloss"), std::move(logits), log_denominator, targets, c.number("weight"));
    c.stop_measuring();
    c.put("dlogits", dlogits);
}

}  // namespace tensor_parallel_test
