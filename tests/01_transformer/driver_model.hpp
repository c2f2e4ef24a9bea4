// The driver's operations on modules: parameters come in by their names, their gradients go out as
// "gradient.NAME", and dx as "gradient.x".
#pragma once

#include <utility>

#include "lessons/01_transformer/model.hpp"
#include "lib/tools/grade/driver.hpp"

namespace driver {

using namespace grade;

inline ModelShape shape_of(Case& c)
{
    ModelShape shape;
    shape.layers = c.integer("layers");
    shape.hidden = c.integer("hidden");
    shape.heads = c.integer("heads");
    shape.sequence = c.integer("sequence");
    shape.vocabulary = c.integer("vocabulary");
    return shape;
}

/// Memory for the parameters, with the values of the inputs of their names; gradients start at `start`.
inline FlatParameters load(Case& c, const std::vector<Parameter*>& parameters)
{
    FlatParameters flat(c.device(), make_flat_layout(parameters, 1), parse_dtype(c.text("dtype")));
    for (Parameter* parameter : parameters) {
        const std::vector<double> values = to_doubles(c.tensor(parameter->name));
        from_doubles(values, parameter->value);
        from_doubles(std::vector<double>(values.size(), c.number("start")), parameter->gradient);
    }
    return flat;
}

inline void put_gradients(Case& c, const std::vector<Parameter*>& parameters)
{
    for (const Parameter* parameter : parameters) c.put("gradient." + parameter->name, parameter->gradient);
}

inline Tensor one_number(Case& c, double number)
{
    Tensor tensor(c.device(), {1}, DType::fp64, Category::activations);
    tensor.span<double>()[0] = number;
    return tensor;
}

/// Bytes and FLOPs that the device counts between two moments.
struct Meter {
    explicit Meter(const Device& measured)
        : device(measured), bytes_before(measured.memory().current), flops_before(measured.flops())
    {
    }
    double bytes() const
    {
        return static_cast<double>(device.memory().current) - static_cast<double>(bytes_before);
    }
    double flops() const { return device.flops() - flops_before; }

    const Device& device;
    std::uint64_t bytes_before;
    double flops_before;
};

/// Forward of one module on input x: y, the bytes saved beside it ("saved_bytes"), and the FLOPs.
inline void run_forward(Case& c, Module& module, const MicroBatch& batch, Saved& saved)
{
    const Meter meter(c.device());
    const Tensor y = module.forward(batch, c.tensor("x"), saved);
    c.put("saved_bytes", meter.bytes() - static_cast<double>(y.bytes()));
    c.put("forward_flops", meter.flops());
    c.put("y", y);
}

/// Forward and backward of one module on inputs x and dy: gradient.x, the bytes left in the end
/// ("left_bytes"), what is left on the stack, on which something lay before, and the FLOPs.
inline void run_module(Case& c, Module& module, const MicroBatch& batch, Tensor dy)
{
    Saved saved;
    saved.push(one_number(c, 1.0));
    const auto dy_bytes = static_cast<double>(dy.bytes());
    const Meter both(c.device());
    run_forward(c, module, batch, saved);
    const Meter backward(c.device());
    const Tensor dx = module.backward(batch, std::move(dy), saved);
    c.put("left_bytes", both.bytes() + dy_bytes - static_cast<double>(dx.bytes()));
    c.put("backward_flops", backward.flops());
    c.put("left_on_stack", static_cast<double>(saved.size()) - 1.0);
    c.put("gradient.x", dx);
}

inline void block_forward(Case& c)
{
    const auto module = transformer::make_block(shape_of(c), c.integer("layer"));
    const FlatParameters flat = load(c, module->parameters());
    Saved saved;
    run_forward(c, *module, {}, saved);
}

inline void block(Case& c)
{
    const auto module = transformer::make_block(shape_of(c), c.integer("layer"));
    const FlatParameters flat = load(c, module->parameters());
    run_module(c, *module, {}, c.tensor("dy"));
    put_gradients(c, module->parameters());
}

/// A batch with the case's targets.
inline MicroBatch batch_of(Case& c, const std::vector<std::int32_t>& targets)
{
    MicroBatch batch;
    batch.sequences = c.integer("sequences");
    batch.tokens = static_cast<std::int64_t>(targets.size()) / batch.sequences;
    batch.targets = targets;
    batch.token_weight = c.number("token_weight");
    return batch;
}

inline void head_forward(Case& c)
{
    const auto embedding = transformer::make_embedding(shape_of(c), true);
    const auto module = transformer::make_head(shape_of(c), *embedding->parameters().front());
    const FlatParameters flat = load(c, module->parameters());
    const std::vector<std::int32_t> targets = c.ids("targets");
    Saved saved;
    run_forward(c, *module, batch_of(c, targets), saved);
}

inline void head(Case& c)
{
    const auto embedding = transformer::make_embedding(shape_of(c), true);
    const auto module = transformer::make_head(shape_of(c), *embedding->parameters().front());
    const FlatParameters flat = load(c, module->parameters());
    const std::vector<std::int32_t> targets = c.ids("targets");
    run_module(c, *module, batch_of(c, targets), one_number(c, c.number("dloss")));
    put_gradients(c, module->parameters());
}

/// The whole model on `micro_batches` batches at once: all forward passes, then all backward passes, each
/// with a stack of its own. Losses, the first batch's logits, gradients, and the bytes held after the forward
/// passes and after the backward passes.
inline void model(Case& c)
{
    const ModelShape shape = shape_of(c);
    const Modules gpt = transformer::make_gpt(shape);
    const std::vector<Parameter*> parameters = parameters_of(gpt);
    const FlatParameters flat = load(c, parameters);
    const std::vector<std::int32_t> ids = c.ids("ids");
    const std::vector<std::int32_t> targets = c.ids("targets");
    const auto count = static_cast<std::size_t>(c.integer("micro_batches"));
    const std::size_t tokens = ids.size() / count;
    std::vector<MicroBatch> batches(count);
    for (std::size_t m = 0; m < count; ++m) {
        batches[m].sequences = c.integer("sequences");
        batches[m].tokens = static_cast<std::int64_t>(tokens) / batches[m].sequences;
        batches[m].inputs = std::span(ids).subspan(m * tokens, tokens);
        batches[m].targets = std::span(targets).subspan(m * tokens, tokens);
        batches[m].token_weight = c.number("token_weight");
    }
    const Meter meter(c.device());
    c.put("logits", transformer::predict(gpt, batches[0]));
    c.put("left_by_predict", meter.bytes());

    std::vector<Saved> saved(count);
    std::vector<double> losses;
    for (std::size_t m = 0; m < count; ++m) {
        Tensor x;
        for (const auto& module : gpt) x = module->forward(batches[m], std::move(x), saved[m]);
        losses.push_back(to_doubles(x).at(0));
    }
    c.put("losses", losses);
    c.put("saved_bytes", meter.bytes());
    for (std::size_t m = 0; m < count; ++m) {
        Tensor dy = one_number(c, c.number("dloss"));
        for (std::size_t i = gpt.size(); i-- > 0;) dy = gpt[i]->backward(batches[m], std::move(dy), saved[m]);
        c.put("left_on_stack", static_cast<double>(saved[m].size()));
    }
    c.put("left_bytes", meter.bytes());  // the second gradient of the tied embedding
    for (Parameter* parameter : parameters) merge_second_gradient(*parameter);
    put_gradients(c, parameters);
}

}  // namespace driver
