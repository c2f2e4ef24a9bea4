// Case operations on the optimizer step over parts of a model.
#pragma once

#include <limits>

#include "lessons/04_data_parallel/optimizer.hpp"
#include "tests/04_data_parallel/driver_layout.hpp"

namespace optimizer_cases {

using namespace grade;
using namespace data_parallel;
using data_parallel_test::ParameterModel;

/// Values that are all there, or gradients of which a part is held.
class WholeValues : public ParameterValues {
  public:
    explicit WholeValues(std::vector<Tensor>& tensors) : tensors_(tensors) {}
    void before_forward(std::size_t) override {}
    void after_forward(std::size_t) override {}
    void before_backward(std::size_t) override {}
    void after_backward(std::size_t) override {}
    Held held(std::size_t b) override
    {
        return {{0, tensors_[b].elements()}, tensors_[b].view(0, tensors_[b].shape())};
    }
    void gather_shards() override {}
    void release() override {}

  private:
    std::vector<Tensor>& tensors_;
};

class PartOfGradients : public Gradients {
  public:
    PartOfGradients(std::vector<Tensor>& tensors, std::vector<Chunk> parts)
        : tensors_(tensors), parts_(std::move(parts))
    {
    }
    void begin_step(std::int64_t) override {}
    void before_backward(std::size_t) override {}
    void after_backward(std::size_t, std::int64_t) override {}
    void finish() override {}
    Held held(std::size_t b) override
    {
        return {parts_[b], tensors_[b].view(parts_[b].offset, {parts_[b].count})};
    }

  private:
    std::vector<Tensor>& tensors_;
    std::vector<Chunk> parts_;
};

/// The model of a case, its buckets, and of each the part that rank `rank` has; rank −1: all of it.
struct Setup {
    ParameterModel model;
    DType dtype;
    int degree;
    std::vector<Bucket> buckets;
    std::vector<Chunk> parts;

    explicit Setup(Case& c)
        : model(layout_cases::model_sizes(c)),
          dtype(parse_dtype(c.text("dtype"))),
          degree(static_cast<int>(c.integer("degree"))),
          buckets(make_buckets(model.modules(), degree, dtype, c.integer("bucket_bytes")))
    {
        const int rank = static_cast<int>(c.integer("rank"));
        for (const Bucket& bucket : buckets)
            parts.push_back(rank < 0 ? Chunk{0, bucket.padded} : bucket.shard(degree, rank));
    }
};

inline std::string named(const char* name, std::size_t bucket)
{
    return fmt::format("{} {}", name, bucket);
}

inline void norm_terms(Case& c)
{
    const Setup setup(c);
    std::vector<Tensor> tensors;
    for (std::size_t b = 0; b < setup.buckets.size(); ++b)
        tensors.push_back(c.tensor(named("gradients", b), Category::gradients));
    PartOfGradients gradients(tensors, setup.parts);
    c.start_measuring();
    const std::vector<double> terms =
        data_parallel::norm_terms(setup.buckets, setup.degree, gradients, c.flag("check_overflow"));
    c.stop_measuring();
    c.put("terms", terms);
}

/// Values and gradients of all buckets, and the states of the parts.
struct Training {
    std::vector<Tensor> values, gradients;
    std::vector<training::OptimizerStates> states;
};

inline training::OptimizerStates states_of(Case& c, std::size_t b, const Chunk& part)
{
    const auto cut = [&](const char* name) {
        return c.tensor(named(name, b), Category::optimizer_states).view(part.offset, {part.count});
    };
    training::OptimizerStates states{{}, cut("m"), cut("v"), c.integer("done")};
    if (is_sixteen_bit(parse_dtype(c.text("dtype")))) states.master = cut("master");
    return states;
}

inline void put_training(Case& c, Training& training, Optimizer* optimizer)
{
    for (std::size_t b = 0; b < training.values.size(); ++b) {
        const training::OptimizerStates& states =
            optimizer == nullptr ? training.states[b] : optimizer->states(b);
        c.put(named("values", b), training.values[b]);
        c.put(named("m", b), states.m);
        c.put(named("v", b), states.v);
        if (!states.master.empty()) c.put(named("master", b), states.master);
        c.put(named("step", b), static_cast<double>(states.step));
        c.put(named("gradients", b), training.gradients[b]);
    }
}

/// Steps of the replicated optimizer, or of update_parts over the parts of one rank, which takes the norm's
/// terms from the inputs.
inline void optimizer_steps(Case& c)
{
    const Setup setup(c);
    Training training;
    for (std::size_t b = 0; b < setup.buckets.size(); ++b) {
        training.values.push_back(c.tensor(named("values", b), Category::parameters));
        training.gradients.emplace_back(c.device(), Shape{setup.buckets[b].padded}, setup.dtype,
                                        Category::gradients);
        training.states.push_back(states_of(c, b, setup.parts[b]));
    }
    WholeValues values(training.values);
    PartOfGradients gradients(training.gradients, setup.parts);
    std::unique_ptr<Optimizer> optimizer;
    if (c.flag("replicated")) {
        optimizer = make_replicated_optimizer(setup.buckets, setup.degree, values, gradients);
        for (std::size_t b = 0; b < setup.buckets.size(); ++b)
            optimizer->states(b) = states_of(c, b, setup.parts[b]);
    }
    const training::AdamW options{c.number("learning_rate"), 0.9, 0.95, 1e-8, c.number("weight_decay")};
    training::LossScale scale{c.number("scale"), c.integer("good_steps"), 3, 16777216.0, 1.0};
    training::LossScale* loss_scale = c.flag("scaled") ? &scale : nullptr;
    std::vector<double> skipped, norms, scales;
    c.start_measuring();
    for (std::int64_t s = 0; s < c.integer("steps"); ++s) {
        for (std::size_t b = 0; b < setup.buckets.size(); ++b)
            from_doubles(c.numbers(fmt::format("gradients {} {}", s, b)), training.gradients[b]);
        std::vector<OptimizerPart> parts;
        for (std::size_t b = 0; b < setup.buckets.size(); ++b) {
            const Chunk& part = setup.parts[b];
            parts.push_back({&setup.buckets[b], part, training.values[b].view(part.offset, {part.count}),
                             training.gradients[b].view(part.offset, {part.count}), &training.states[b]});
        }
        const training::UpdateResult result =
            optimizer ? optimizer->update(options, c.number("max_norm"), loss_scale)
                      : update_parts(options, c.number("max_norm"), loss_scale,
                                     c.numbers(fmt::format("terms {}", s)), parts);
        skipped.push_back(result.skipped ? 1.0 : 0.0);
        norms.push_back(result.gradient_norm);
        scales.push_back(scale.scale);
    }
    c.stop_measuring();
    put_training(c, training, optimizer.get());
    c.put("skipped", skipped);
    c.put("norms", norms);
    c.put("scales", scales);
    c.put("good_steps", static_cast<double>(scale.good_steps));
}

}  // namespace optimizer_cases
