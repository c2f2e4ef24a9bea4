// A model that is nothing but its parameters: made alike by the driver that runs the code and by the judge.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/machine/nn/module.hpp"

namespace data_parallel_test {

using namespace shardlings;

/// How many elements each parameter has, and which parameters each module uses.
struct ModelSizes {
    std::vector<std::int32_t> sizes;
    std::vector<std::vector<std::int32_t>> modules;
};

/// Lists its parameters and computes nothing.
class Listing : public Module {
  public:
    explicit Listing(std::vector<Parameter*> parameters) : parameters_(std::move(parameters)) {}
    std::vector<Parameter*> parameters() override { return parameters_; }
    Tensor forward(const MicroBatch&, Tensor x, Saved&) override { return x; }
    Tensor backward(const MicroBatch&, Tensor dy, Saved&) override { return dy; }

  private:
    std::vector<Parameter*> parameters_;
};

/// Parameter i is called "p" + i, has two rows when its size is even, and decays when i is even.
class ParameterModel {
  public:
    explicit ParameterModel(const ModelSizes& model) : parameters_(model.sizes.size())
    {
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            const std::int64_t size = model.sizes[i];
            const Slice slice = Slice::whole(size % 2 == 0 ? Shape{2, size / 2} : Shape{size});
            parameters_[i] = {"p" + std::to_string(i), slice, {0.5, 1.0}, i % 2 == 0, {}, {}, {}};
        }
        for (const std::vector<std::int32_t>& used : model.modules) {
            std::vector<Parameter*> list;
            for (const std::int32_t i : used) list.push_back(&parameters_[static_cast<std::size_t>(i)]);
            modules_.push_back(std::make_unique<Listing>(list));
        }
    }

    const Modules& modules() const { return modules_; }
    std::vector<Parameter>& parameters() { return parameters_; }

    /// Which of the parameters it is; -1: none.
    int index_of(const Parameter* parameter) const
    {
        for (std::size_t i = 0; i < parameters_.size(); ++i)
            if (&parameters_[i] == parameter) return static_cast<int>(i);
        return -1;
    }

    /// True when the module is the first of several that use the parameter, as the token embedding's lookup.
    bool is_lookup(std::size_t module, const Parameter* parameter) const
    {
        std::vector<std::size_t> users;
        for (std::size_t i = 0; i < modules_.size(); ++i)
            if (std::ranges::count(modules_[i]->parameters(), parameter) > 0) users.push_back(i);
        return users.size() > 1 && users.front() == module;
    }

  private:
    std::vector<Parameter> parameters_;
    Modules modules_;
};

}  // namespace data_parallel_test
