// Case operations on the whole model in parts.
#pragma once

#include <cmath>

#include "lessons/02_training_step/accumulation.hpp"
#include "lessons/02_training_step/mixed_precision.hpp"
#include "lessons/08_tensor_parallel/model.hpp"
#include "tests/08_tensor_parallel/driver_boundary.hpp"

namespace tensor_parallel_test {

inline ModelShape shape_of(Case& c)
{
    return {c.integer("layers"), c.integer("hidden"), c.integer("heads"), c.integer("positions"),
            c.integer("vocabulary")};
}

/// What one rank has of the model.
struct Gpt {
    Comm group;
    std::unique_ptr<Boundary> boundary;
    Modules modules;
    FlatParameters flat;

    explicit Gpt(Case& c)
        : group(group_of(c)),
          boundary(boundary_of(c, group)),
          modules(make_gpt(
              *boundary, shape_of(c),
              {{c.number("dropout"), static_cast<std::uint64_t>(c.integer("seed"))}, c.flag("recompute")})),
          flat(c.device(), make_flat_layout(parameters_of(modules), 1), parse_dtype(c.text("dtype")))
    {
        for (const FlatEntry& entry : flat.layout().entries)
            initialise(*entry.parameter, static_cast<std::uint64_t>(c.integer("seed")));
    }
};

/// Which part of which parameter, and how it starts.
inline void put_parameters(Case& c, const Gpt& gpt)
{
    std::string names;
    for (const FlatEntry& entry : gpt.flat.layout().entries) {
        const Parameter& p = *entry.parameter;
        names += p.name + "\n";
        std::vector<double> slice;
        for (const Shape& shape : {p.slice.global, p.slice.offset, p.slice.shape})
            slice.insert(slice.end(), shape.begin(), shape.end());
        c.put("slice " + p.name, slice);
        c.put("value " + p.name, p.value);
        c.put("starts " + p.name,
              std::vector<double>{p.initialisation.constant, p.initialisation.standard_deviation,
                                  p.decays ? 1.0 : 0.0, is_replicated(p) ? 1.0 : 0.0});
    }
    c.put("names", names);
}

inline void gpt_parameters(Case& c)
{
    const Gpt gpt(c);
    put_parameters(c, gpt);
}

/// What the passes of every module add to the device's counters.
struct Counts {
    std::vector<double> messages, bytes, flops, held;

    void begin(const Device& device) { before_ = read(device); }
    void end(const Device& device)
    {
        const std::vector<double> now = read(device);
        messages.push_back(now[0] - before_[0]);
        bytes.push_back(now[1] - before_[1]);
        flops.push_back(now[2] - before_[2]);
        held.push_back(now[3] - before_[3]);
    }
    void put(Case& c, const std::string& pass) const
    {
        c.put(pass + " messages", messages);
        c.put(pass + " bytes", bytes);
        c.put(pass + " flops", flops);
        c.put(pass + " held", held);
    }

  private:
    static std::vector<double> read(const Device& device)
    {
        return {static_cast<double>(device.traffic().total.messages),
                static_cast<double>(device.traffic().total.bytes), device.flops(),
                static_cast<double>(device.memory().current_of(Category::activations))};
    }
    std::vector<double> before_;
};

/// Forward and backward of one micro-batch; the counts are of this one.
inline double run_passes(Device& device, const Modules& modules, const MicroBatch& batch, double loss_scale,
                         Counts& forward, Counts& backward, std::size_t& left)
{
    std::vector<Saved> saved(modules.size());
    Tensor x;
    for (std::size_t i = 0; i < modules.size(); ++i) {
        forward.begin(device);
        x = modules[i]->forward(batch, std::move(x), saved[i]);
        forward.end(device);
    }
    const double loss = x.span<double>()[0];
    x.span<double>()[0] = loss_scale;
    for (std::size_t i = modules.size(); i-- > 0;) {
        backward.begin(device);
        x = modules[i]->backward(batch, std::move(x), saved[i]);
        backward.end(device);
        left += saved[i].size();
    }
    return loss;
}

/// The largest element of the token embedding's second gradient; −1 when there is none.
inline double largest_of_lookup(const Parameter& wte)
{
    if (wte.second_gradient.empty()) return -1.0;
    double largest = 0.0;
    for (const double value : to_doubles(wte.second_gradient)) largest = std::max(largest, std::abs(value));
    return largest;
}

/// Gradients of a batch in micro-batches. Outputs: the loss, every gradient, the counts of the last
/// micro-batch, the parameters.
inline void gpt(Case& c)
{
    Gpt gpt(c);
    const std::vector<std::int32_t> inputs = c.ids("inputs"), targets = c.ids("targets");
    MicroBatch batch = batch_of(c);
    batch.inputs = inputs;
    batch.targets = targets;
    batch.first_sequence = c.integer("first_sequence");
    batch.step = c.integer("step");
    std::size_t left = 0;
    double loss = 0.0;
    Counts forward, backward;
    c.start_measuring();
    for (const MicroBatch& part : training::split_batch(batch, c.integer("micro_batches"))) {
        forward = backward = Counts{};
        loss += run_passes(c.device(), gpt.modules, part, c.number("loss_scale"), forward, backward, left);
    }
    c.put("lookup", largest_of_lookup(*gpt.modules.front()->parameters().front()));
    for (const FlatEntry& entry : gpt.flat.layout().entries) merge_second_gradient(*entry.parameter);
    c.stop_measuring();
    c.put("loss", loss);
    c.put("saved left", static_cast<double>(left));
    forward.put(c, "forward");
    backward.put(c, "backward");
    put_parameters(c, gpt);
    for (const FlatEntry& entry : gpt.flat.layout().entries)
        c.put("gradient " + entry.parameter->name, entry.parameter->gradient);
}

/// Steps 1, 2, … of AdamW on the same batch, every rank by itself, without clipping, which would need the
/// norm over the group. Outputs: the losses, and the parameters.
inline void gpt_steps(Case& c)
{
    Gpt gpt(c);
    const std::vector<std::int32_t> inputs = c.ids("inputs"), targets = c.ids("targets");
    MicroBatch batch = batch_of(c);
    batch.inputs = inputs;
    batch.targets = targets;
    training::AdamW adamw;
    adamw.learning_rate = c.number("learning_rate");
    training::OptimizerStates states = training::make_optimizer_states(gpt.flat.values());
    std::vector<double> losses;
    for (batch.step = 1; batch.step <= c.integer("steps"); ++batch.step) {
        gpt.flat.gradients().fill_zero();
        losses.push_back(training::accumulate_gradients(
            gpt.modules, training::split_batch(batch, c.integer("micro_batches")), 1.0));
        training::update_parameters(adamw, 0.0, nullptr, gpt.flat, states);
    }
    c.put("losses", losses);
    put_parameters(c, gpt);
}

/// Refused, or not: a degree for a shape, and the same by make_gpt when `makes`.
inline void degree(Case& c)
{
    put_refusal(c, [&] {
        if (c.flag("makes"))
            Gpt gpt(c);
        else
            check_degree(shape_of(c), static_cast<int>(c.integer("degree")));
    });
}

}  // namespace tensor_parallel_test
