// Modules that compute next to nothing, but write down in which order they are called and what they are
// given.
#pragma once

#include <limits>
#include <utility>

#include "lib/machine/nn/module.hpp"
#include "lib/tools/grade/driver.hpp"

namespace probes {

using namespace shardlings;

/// What the probes saw, in the order in which it happened: "f2.0" is the forward pass of module 2 on
/// micro-batch 0, "b2.0" its backward pass.
struct Log {
    std::string calls;
    std::vector<double> loss_gradients;  // dy of the last module, one a backward pass
    int second_gradients = 0;            // how often the first module had to make its second accumulator

    void add(char pass, std::size_t module, std::int64_t batch)
    {
        if (!calls.empty()) calls += ' ';
        calls += fmt::format("{}{}.{}", pass, module, batch);
    }
};

/// Module `index` of `count`: passes on `elements` doubles, saves `kept` tensors of as many. The first has a
/// parameter w of one fp32 element, which the last uses too: its backward adds `head[batch]` to the gradient,
/// the first adds `lookup[batch]` to the second gradient. The last returns the loss
/// token_weight · Σ (input + 1) over counted tokens.
struct Setup {
    std::size_t count = 3;
    std::int64_t elements = 64;
    int kept = 2;
    std::vector<double> head;
    std::vector<double> lookup;
};

class Probe : public Module {
  public:
    Probe(const Setup& setup, std::size_t index, Log& log) : setup_(setup), index_(index), log_(log)
    {
        if (index == 0) w_ = {"w", Slice::whole({1}), {}, false, {}, {}, {}};
    }

    std::vector<Parameter*> parameters() override
    {
        return index_ == 0 ? std::vector<Parameter*>{&w_} : std::vector<Parameter*>{};
    }

    void use(Parameter& w, Device& device)
    {
        shared_ = &w;
        device_ = &device;
    }

    Tensor forward(const MicroBatch& batch, Tensor x, Saved& saved) override
    {
        log_.add('f', index_, batch.index);
        check(x.empty() == (index_ == 0),
              "forward of module {} was given {} x: only the first module has none", index_,
              x.empty() ? "an empty" : "an");
        if (index_ > 0)
            check(value_of(x) == mark(batch, index_ - 1),
                  "forward of module {} was given another x than module {} returned for this micro-batch",
                  index_, index_ - 1);
        for (int i = 0; i < setup_.kept; ++i) saved.push(filled(mark(batch, index_) + i));
        return last() ? loss_of(batch) : filled(mark(batch, index_));
    }

    Tensor backward(const MicroBatch& batch, Tensor dy, Saved& saved) override
    {
        log_.add('b', index_, batch.index);
        check(!dy.empty(), "backward of module {} was given an empty dy", index_);
        for (int i = setup_.kept; i-- > 0;)
            check(value_of(saved.pop()) == mark(batch, index_) + i,
                  "backward of module {} was given what another module or micro-batch saved", index_);
        if (last()) {
            check(dy.dtype() == DType::fp64 && dy.elements() == 1,
                  "the head's backward wants d(objective)/d(loss) as one fp64 number, got {} of {}",
                  to_string(dy.shape()), name_of(dy.dtype()));
            log_.loss_gradients.push_back(dy.span<double>()[0]);
            shared_->gradient.span<float>()[0] += static_cast<float>(of_batch(setup_.head, batch));
        } else {
            check(value_of(dy) == -mark(batch, index_ + 1),
                  "backward of module {} was given another dy than module {} returned", index_, index_ + 1);
        }
        if (index_ > 0) return filled(-mark(batch, index_));
        look_up(batch);
        return {};
    }

  private:
    bool last() const { return index_ + 1 == setup_.count; }

    static double of_batch(const std::vector<double>& values, const MicroBatch& batch)
    {
        return values.empty() ? 0.0 : values.at(static_cast<std::size_t>(batch.index));
    }

    /// What module i's tensors of a micro-batch are filled with.
    double mark(const MicroBatch& batch, std::size_t i) const
    {
        return 1000.0 * static_cast<double>(batch.index + 1) + 10.0 * static_cast<double>(i + 1);
    }

    Tensor filled(double value) const
    {
        Tensor tensor(*device_, {setup_.elements}, DType::fp64, Category::activations);
        for (double& element : tensor.span<double>()) element = value;
        return tensor;
    }

    static double value_of(const Tensor& tensor)
    {
        const auto values = tensor.span<double>();
        for (const double value : values)
            if (value != values[0]) return std::numeric_limits<double>::quiet_NaN();
        return values[0];
    }

    Tensor loss_of(const MicroBatch& batch) const
    {
        double sum = 0.0;
        for (std::size_t i = 0; i < batch.inputs.size(); ++i)
            if (batch.targets[i] >= 0) sum += batch.inputs[i] + 1.0;
        Tensor loss(*device_, {1}, DType::fp64, Category::activations);
        loss.span<double>()[0] = batch.token_weight * sum;
        return loss;
    }

    void look_up(const MicroBatch& batch)
    {
        if (w_.second_gradient.empty()) {
            w_.second_gradient = make_like(w_.gradient, Category::workspace);
            w_.second_gradient.fill_zero();
            ++log_.second_gradients;
        }
        w_.second_gradient.span<float>()[0] += static_cast<float>(of_batch(setup_.lookup, batch));
    }

    const Setup& setup_;
    std::size_t index_;
    Log& log_;
    Parameter w_;
    Parameter* shared_ = nullptr;
    Device* device_ = nullptr;
};

/// The chain of all probes, and its one parameter.
inline Modules make_chain(const Setup& setup, Log& log, Device& device)
{
    Modules modules;
    for (std::size_t i = 0; i < setup.count; ++i) {
        auto probe = std::make_unique<Probe>(setup, i, log);
        Parameter& w = i == 0 ? *probe->parameters()[0] : *modules[0]->parameters()[0];
        probe->use(w, device);
        modules.push_back(std::move(probe));
    }
    return modules;
}

}  // namespace probes
