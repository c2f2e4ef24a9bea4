// What a training step left behind, all of it, on one rank: to compare layouts element by element.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "lib/tools/train/trainer.hpp"

namespace shardlings::agreement {

/// What there is of every element of the model.
enum class Quantity : std::uint8_t { gradient, parameter, m, v, master };
inline constexpr std::array quantities{Quantity::gradient, Quantity::parameter, Quantity::m, Quantity::v,
                                       Quantity::master};
std::string_view name_of(Quantity quantity);

/// A parameter in the flat order of the model.
struct TensorPlace {
    std::string name;
    std::int64_t begin;
    std::int64_t count;
};
std::vector<TensorPlace> places_of(const ModelShape& shape);

/// A step as one rank sees all of it. The numbers are those of the devices, held as fp64, which is exact.
struct Observation {
    StepReport report;
    double seconds = 0.0;  // virtual time of this rank's step
    /// By quantity, one number for each element of the model in the order of places_of; empty for master
    /// weights where there are none. Gradients are not scaled (fp16).
    std::array<std::vector<double>, quantities.size()> values;
    /// Elements that several ranks hold and that are not bitwise the same on all of them, by quantity.
    std::array<std::int64_t, quantities.size()> disagreements{};

    const std::vector<double>& of(Quantity quantity) const
    {
        return values[static_cast<std::size_t>(quantity)];
    }
};

/// One training step of `trainer`, observed: on rank 0 of `comm`, the ranks of the trainer; nothing useful on
/// the others. Rank 0 is the last to be done with what observing adds, so its step begins when all are ready.
/// Every rank must call it. Error when an element is on no rank.
Observation observe_step(Comm& comm, Trainer& trainer, const TrainOptions& options,
                         const MicroBatch& global_batch, std::int64_t step);

}  // namespace shardlings::agreement
