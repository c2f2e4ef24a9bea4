// Modules without mathematics, and what they add to their gradients: made alike by the driver that runs the
// code and by the judge.
#pragma once

#include <cmath>
#include <functional>
#include <utility>

#include "lib/machine/nn/module.hpp"
#include "lib/machine/tensor/random.hpp"

namespace zero_test {

using namespace shardlings;

/// The sizes of every module's parameters, each a vector. The last module uses the very first parameter too,
/// as GPT-2's head does the token embedding.
using Sizes = std::vector<std::vector<std::int64_t>>;

/// What a probe does in a pass ('f' forward, 'b' backward) of module `module` over a micro-batch.
using Pass = std::function<void(char pass, std::size_t module, std::int64_t micro_batch)>;

/// A module that passes on one number, and calls `pass` in each pass. The first module's backward pass reads
/// no values, as an embedding's, unless `first_reads`.
class Probe : public Module {
  public:
    Probe(std::size_t index, const std::vector<std::int64_t>& sizes, bool reads, Device* device, Pass pass)
        : index_(index), own_(sizes.size()), reads_(reads), device_(device), pass_(std::move(pass))
    {
        for (std::size_t i = 0; i < sizes.size(); ++i)
            own_[i] = {fmt::format("m{}.p{}", index, i),
                       Slice::whole({sizes[i]}),
                       {0.0, 1.0},
                       (index + i) % 2 == 0,
                       {},
                       {},
                       {}};
    }

    void use(Parameter& shared) { shared_ = &shared; }

    std::vector<Parameter*> parameters() override
    {
        std::vector<Parameter*> all;
        for (Parameter& parameter : own_) all.push_back(&parameter);
        if (shared_ != nullptr) all.push_back(shared_);
        return all;
    }

    bool backward_reads_values() const override { return reads_; }

    Tensor forward(const MicroBatch& batch, Tensor, Saved&) override
    {
        pass_('f', index_, batch.index);
        return number();
    }

    Tensor backward(const MicroBatch& batch, Tensor, Saved&) override
    {
        pass_('b', index_, batch.index);
        return number();
    }

  private:
    Tensor number() const
    {
        Tensor one(*device_, {1}, DType::fp64, Category::activations);
        one.fill_zero();
        return one;
    }

    std::size_t index_;
    std::vector<Parameter> own_;
    bool reads_;
    Parameter* shared_ = nullptr;
    Device* device_;
    Pass pass_;
};

/// The judge runs no passes: it needs no device.
inline Modules make_probes(const Sizes& sizes, bool first_reads, Device* device = nullptr,
                           const Pass& pass = {})
{
    Modules modules;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        auto probe = std::make_unique<Probe>(i, sizes[i], i > 0 || first_reads, device, pass);
        if (i > 0 && i + 1 == sizes.size()) probe->use(*modules.front()->parameters().front());
        modules.push_back(std::move(probe));
    }
    return modules;
}

/// "f2.0": the forward pass of module 2 over micro-batch 0.
inline std::string name_of_pass(char pass, std::size_t module, std::int64_t micro_batch)
{
    return fmt::format("{}{}.{}", pass, module, micro_batch);
}

/// What a module adds to a parameter's gradient in one backward pass. With `digits` a power of two that
/// belongs to (rank, micro-batch, accumulator), times 1 + the parameter's place in the model, so that a sum
/// says what it holds; else random numbers.
struct Contribution {
    int rank = 0;
    std::int64_t micro_batch = 0;
    bool second = false;  // of the lookup, to the second accumulator

    int digit(int ranks) const { return static_cast<int>(2 * micro_batch + (second ? 1 : 0)) * ranks + rank; }
};

struct Pattern {
    bool digits = true;
    std::uint64_t seed = 1;
    int ranks = 1;
    std::int64_t step = 0;  // random numbers are others in every step

    /// `first`: place in the model of the parameter's first element.
    std::vector<double> values(const Contribution& from, const Parameter& parameter, std::int64_t first) const
    {
        std::vector<double> all(static_cast<std::size_t>(parameter.elements()));
        const RandomStream stream(seed, fmt::format("{} {} {} {} {}", step, parameter.name, from.rank,
                                                    from.micro_batch, from.second));
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] = digits ? std::ldexp(static_cast<double>(first) + static_cast<double>(i) + 1.0,
                                         from.digit(ranks))
                            : stream.normal(i);
        return all;
    }
};

/// The place in the model of a parameter's first element, all modules' parameters one after another. The last
/// module's last parameter is the first's, and comes after all others.
inline std::int64_t place_of(const std::vector<std::vector<Parameter*>>& by_module,
                             const Parameter& parameter)
{
    std::int64_t place = 0;
    for (const std::vector<Parameter*>& module : by_module)
        for (const Parameter* one : module) {
            if (one == &parameter) return place;
            place += one->elements();
        }
    return place;
}

/// The modules' parameters, as they are before the modules are wrapped.
inline std::vector<std::vector<Parameter*>> parameters_by_module(const Modules& modules)
{
    std::vector<std::vector<Parameter*>> all;
    for (const auto& module : modules) all.push_back(module->parameters());
    return all;
}

}  // namespace zero_test
