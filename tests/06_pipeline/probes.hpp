// Modules without mathematics that write down when they are called, with what, and how much memory is held.
#pragma once

#include <cmath>
#include <limits>

#include "lib/machine/nn/module.hpp"

namespace pipeline_test {

using namespace shardlings;

/// What a module computes and keeps: FLOPs of its passes, tensors of x's size that it saves, and whether x is
/// saved besides.
struct ProbeWork {
    double forward_flops = 0.0;
    double backward_flops = 0.0;
    int saved = 0;
    bool saves_x = false;
};

/// All modules of a model, in its order, and the size of what goes from one to the next: (sequences, tokens,
/// hidden) of `dtype`.
struct ProbeModel {
    std::vector<ProbeWork> work;
    std::int64_t hidden = 1;
    DType dtype = DType::fp32;
};

/// The calls of a device's modules, in their order: "f2.0" is the forward pass of module 2 on micro-batch 0.
struct ProbeLog {
    std::string calls;
    std::vector<double> times;  // at which they begin
    std::vector<double> held;   // bytes in use then, besides what the module is given
    std::vector<double> loss_gradients;
    std::string problem;  // the first thing that was wrong with what a module was given

    void wrong(std::string what)
    {
        if (problem.empty()) problem = std::move(what);
    }
};

/// The loss of a micro-batch: of a sum of these can be seen which ones are in it.
inline double probe_loss(std::int64_t micro_batch)
{
    return static_cast<double>(std::int64_t{1} << micro_batch);
}

/// Module `index`: y and dx are filled with a number that says whose they are, which is checked by the module
/// that is given them.
class Probe : public Module {
  public:
    Probe(const ProbeModel& model, std::size_t index, Device& device, ProbeLog& log)
        : model_(model), index_(index), device_(device), log_(log)
    {
    }

    std::vector<Parameter*> parameters() override { return {}; }

    Tensor forward(const MicroBatch& batch, Tensor x, Saved& saved) override
    {
        note('f', batch, x);
        if (index_ == 0) {
            if (!x.empty()) log_.wrong("the first module of the model was given an x: it has none");
        } else {
            check_given("forward", "x", batch, x, mark(batch, index_ - 1));
        }
        device_.compute(work().forward_flops);
        Tensor y = is_last() ? scalar(probe_loss(batch.index)) : filled(batch, mark(batch, index_));
        if (work().saves_x) saved.push(std::move(x));
        for (int i = 0; i < work().saved; ++i) saved.push(filled(batch, mark(batch, index_)));
        return y;
    }

    Tensor backward(const MicroBatch& batch, Tensor dy, Saved& saved) override
    {
        note('b', batch, dy);
        if (is_last())
            note_loss_gradient(dy);
        else
            check_given("backward", "dy", batch, dy, -mark(batch, index_ + 1));
        for (int i = 0; i < work().saved; ++i) check_saved(batch, saved.pop(), mark(batch, index_));
        if (work().saves_x)
            check_saved(batch, saved.pop(),
                        index_ == 0 ? std::numeric_limits<double>::quiet_NaN() : mark(batch, index_ - 1));
        device_.compute(work().backward_flops);
        return index_ == 0 ? Tensor() : filled(batch, -mark(batch, index_));
    }

  private:
    const ProbeWork& work() const { return model_.work[index_]; }
    bool is_last() const { return index_ + 1 == model_.work.size(); }

    /// What module i's tensors of a micro-batch are filled with: whole numbers up to 256, which bf16 holds.
    static double mark(const MicroBatch& batch, std::size_t i)
    {
        return static_cast<double>(32 * batch.index + static_cast<std::int64_t>(i) + 1);
    }

    void note(char pass, const MicroBatch& batch, const Tensor& given)
    {
        if (!log_.calls.empty()) log_.calls += ' ';
        log_.calls += fmt::format("{}{}.{}", pass, index_, batch.index);
        log_.times.push_back(device_.clock().now());
        log_.held.push_back(
            static_cast<double>(device_.memory().current - (given.empty() ? 0 : given.bytes())));
    }

    Tensor filled(const MicroBatch& batch, double value) const
    {
        Tensor tensor(device_, {batch.sequences, batch.tokens, model_.hidden}, model_.dtype,
                      Category::activations);
        from_doubles(std::vector<double>(static_cast<std::size_t>(tensor.elements()), value), tensor);
        return tensor;
    }

    Tensor scalar(double value) const
    {
        Tensor tensor(device_, {1}, DType::fp64, Category::activations);
        tensor.span<double>()[0] = value;
        return tensor;
    }

    /// The number that a tensor is filled with; NaN: it is not.
    static double value_of(const Tensor& tensor)
    {
        const std::vector<double> values = to_doubles(tensor);
        for (const double value : values)
            if (value != values[0]) return std::numeric_limits<double>::quiet_NaN();
        return values.empty() ? std::numeric_limits<double>::quiet_NaN() : values[0];
    }

    /// "module 3's dx of micro-batch 1", by the number that a tensor is filled with.
    static std::string owner_of(double value)
    {
        const auto number = static_cast<std::int64_t>(std::abs(value)) - 1;
        if (std::isnan(value) || number < 0) return "what no module returned";
        return fmt::format("the {} of module {} and micro-batch {}", value > 0.0 ? "y" : "dx", number % 32,
                           number / 32);
    }

    void check_given(const char* pass, const char* name, const MicroBatch& batch, const Tensor& given,
                     double expected)
    {
        const auto begin = [&] {
            return fmt::format("the {} pass of module {} on micro-batch {} was given ", pass, index_,
                               batch.index);
        };
        if (given.empty()) return log_.wrong(begin() + fmt::format("an empty {}", name));
        const Shape shape{batch.sequences, batch.tokens, model_.hidden};
        if (given.shape() != shape || given.dtype() != model_.dtype)
            return log_.wrong(begin() + fmt::format("a {} of {} {}, expected {} {}", name,
                                                    to_string(given.shape()), name_of(given.dtype()),
                                                    to_string(shape), name_of(model_.dtype)));
        const double value = value_of(given);
        if (value != expected)
            log_.wrong(begin() + fmt::format("{}, expected {}", owner_of(value), owner_of(expected)));
    }

    void check_saved(const MicroBatch& batch, const Tensor& saved, double expected)
    {
        if (std::isnan(expected) ? saved.empty() : !saved.empty() && value_of(saved) == expected) return;
        log_.wrong(
            fmt::format("the backward pass of module {} on micro-batch {} was given what another "
                        "module or micro-batch saved: {}",
                        index_, batch.index, owner_of(saved.empty() ? 0.0 : value_of(saved))));
    }

    void note_loss_gradient(const Tensor& dy)
    {
        if (dy.empty() || dy.dtype() != DType::fp64 || dy.elements() != 1)
            return log_.wrong(
                "the backward pass of the last module was not given d(objective)/d(loss), one fp64 number");
        log_.loss_gradients.push_back(dy.span<double>()[0]);
    }

    const ProbeModel& model_;
    std::size_t index_;
    Device& device_;
    ProbeLog& log_;
};

}  // namespace pipeline_test
