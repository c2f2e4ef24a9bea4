// A small model with its optimizer states, for tests that save and load it.
#pragma once

#include <cmath>
#include <cstring>
#include <string>

#include "lessons/01_transformer/model.hpp"
#include "lessons/02_training_step/mixed_precision.hpp"
#include "lib/machine/tensor/random.hpp"

inline constexpr shardlings::ModelShape small_shape{2, 8, 2, 6, 256};

struct SmallModel {
    shardlings::Device device{shardlings::DeviceOptions{}};
    shardlings::Modules modules;
    shardlings::FlatParameters parameters;
    training::OptimizerStates states;

    /// Initialised from `seed`; states as before the first step.
    SmallModel(shardlings::DType dtype, std::uint64_t seed, const shardlings::ModelShape& shape = small_shape)
        : modules(transformer::make_gpt(shape)),
          parameters(device, shardlings::make_flat_layout(shardlings::parameters_of(modules), 1), dtype)
    {
        for (const shardlings::FlatEntry& entry : parameters.layout().entries)
            shardlings::initialise(*entry.parameter, seed);
        states = training::make_optimizer_states(parameters.values());
    }

    /// Gives every number of the weights and the states a random value, as if many steps had been done.
    void scramble(std::uint64_t seed)
    {
        const auto fill = [&](const char* name, shardlings::Tensor& tensor, bool positive) {
            std::vector<double> values(static_cast<std::size_t>(tensor.elements()));
            const shardlings::RandomStream stream(seed, name);
            for (std::size_t i = 0; i < values.size(); ++i) {
                const double value = stream.normal(i);
                values[i] = positive ? std::abs(value) : value;
            }
            shardlings::from_doubles(values, tensor);
        };
        fill("m", states.m, false);
        fill("v", states.v, true);
        if (states.master.empty()) return fill("weights", parameters.values(), false);
        fill("weights", states.master, false);
        shardlings::convert(states.master.buffer(), parameters.values().buffer());
    }

    shardlings::Parameter& parameter(const std::string& name) const
    {
        for (const shardlings::FlatEntry& entry : parameters.layout().entries)
            if (entry.parameter->name == name) return *entry.parameter;
        throw shardlings::Error("no parameter " + name);
    }
};

inline bool same_bits(const shardlings::Tensor& a, const shardlings::Tensor& b)
{
    if (a.empty() || b.empty()) return a.empty() && b.empty();
    return a.dtype() == b.dtype() && a.bytes() == b.bytes() &&
           std::memcmp(a.buffer().data, b.buffer().data, a.bytes()) == 0;
}

/// The first of values, master, m and v that differs in a bit; empty when none does.
inline std::string difference(const SmallModel& a, const SmallModel& b)
{
    if (!same_bits(a.parameters.values(), b.parameters.values())) return "values";
    if (!same_bits(a.states.master, b.states.master)) return "master";
    if (!same_bits(a.states.m, b.states.m)) return "m";
    if (!same_bits(a.states.v, b.states.v)) return "v";
    return a.states.step == b.states.step ? "" : "optimizer step";
}
