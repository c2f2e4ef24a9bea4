// The same training runs in a single process, by lesson 02 alone.
#pragma once

#include <map>

#include "tests/04_data_parallel/training_run.hpp"

namespace data_parallel_test {

/// By the parameters' names.
using ByName = std::map<std::string, std::vector<double>>;

class SingleRun {
  public:
    explicit SingleRun(const TrainingRun& run)
        : run_(run),
          batches_(run),
          modules_(transformer::make_gpt(run.shape)),
          flat_(device_, make_flat_layout(parameters_of(modules_), 1), run.dtype),
          scale_(run.scale())
    {
        for (const FlatEntry& entry : flat_.layout().entries) initialise(*entry.parameter, run.seed);
        states_ = training::make_optimizer_states(flat_.values());
    }

    /// The loss of a step's batch in so many micro-batches, whose gradients are in gradients().
    double accumulate(std::int64_t step, std::int64_t micro_batches)
    {
        flat_.gradients().fill_zero();
        const std::vector<MicroBatch> parts = training::split_batch(batches_.global(step), micro_batches);
        return training::accumulate_gradients(modules_, parts, run_.scaled() ? scale_.scale : 1.0);
    }
    training::UpdateResult update()
    {
        return training::update_parameters(run_.adamw(), run_.max_norm, run_.scaled() ? &scale_ : nullptr,
                                           flat_, states_);
    }

    ByName gradients() const { return numbers(&Parameter::gradient); }
    ByName values() const { return numbers(&Parameter::value); }
    void set_values(const ByName& values)
    {
        for (const FlatEntry& entry : flat_.layout().entries)
            from_doubles(values.at(entry.parameter->name), entry.parameter->value);
    }

    /// Σ |t| over the terms t of a step's gradients, one a part from every module that uses the parameter.
    ByName sizes_of_terms(std::int64_t step, std::int64_t parts)
    {
        ByName sizes;
        for (const auto& [name, values] : values()) sizes[name].assign(values.size(), 0.0);
        const auto add = [&](const std::string& name, const Tensor& tensor) {
            if (tensor.empty()) return;
            const std::vector<double> terms = to_doubles(tensor);
            for (std::size_t i = 0; i < terms.size(); ++i) sizes[name][i] += std::abs(terms[i]);
        };
        for (const MicroBatch& part : training::split_batch(batches_.global(step), parts)) {
            flat_.gradients().fill_zero();
            std::vector<Saved> saved(modules_.size());
            Tensor x;
            for (std::size_t i = 0; i < modules_.size(); ++i)
                x = modules_[i]->forward(part, std::move(x), saved[i]);
            x.span<double>()[0] = 1.0;  // d(objective)/d(loss)
            for (std::size_t i = modules_.size(); i-- > 0;)
                x = modules_[i]->backward(part, std::move(x), saved[i]);
            for (const FlatEntry& entry : flat_.layout().entries) {
                add(entry.parameter->name, entry.parameter->gradient);
                add(entry.parameter->name, entry.parameter->second_gradient);
                entry.parameter->second_gradient = Tensor();
            }
        }
        return sizes;
    }

  private:
    ByName numbers(Tensor Parameter::*tensor) const
    {
        ByName result;
        for (const FlatEntry& entry : flat_.layout().entries)
            result[entry.parameter->name] = to_doubles(entry.parameter->*tensor);
        return result;
    }

    Device device_{DeviceOptions{}};
    TrainingRun run_;
    Batches batches_;
    Modules modules_;
    FlatParameters flat_;
    training::OptimizerStates states_;
    training::LossScale scale_;
};

/// What lies in the buckets' buffers, by the parameters' names.
inline ByName by_name(const std::vector<data_parallel::Bucket>& buckets,
                      const std::vector<std::vector<double>>& buffers)
{
    ByName result;
    for (std::size_t b = 0; b < buckets.size(); ++b)
        for (const FlatEntry& entry : buckets[b].entries) {
            const auto first = buffers[b].begin() + entry.offset;
            result[entry.parameter->name].assign(first, first + entry.parameter->elements());
        }
    return result;
}

}  // namespace data_parallel_test
