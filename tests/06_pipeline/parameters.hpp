// What the driver and the judge must do alike with parameters.
#pragma once

#include <cstdint>

#include "lib/machine/nn/parameter.hpp"

namespace pipeline_test {

using namespace shardlings;

/// Of the initial values.
inline constexpr std::uint64_t initial_seed = 7;

/// "wte.weight: 11 x 8 of 11 x 8, …": all of a parameter but its numbers.
inline std::string describe(const Parameter& p)
{
    return fmt::format("{}: {} of {}, starts at {} with deviation {}, {}", p.name, to_string(p.slice.shape),
                       to_string(p.slice.global), p.initialisation.constant,
                       p.initialisation.standard_deviation, p.decays ? "decays" : "does not decay");
}

}  // namespace pipeline_test
