// What a driver's ranks have told the judge.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace grade {

/// Of one rank about one case.
struct Outcome {
    nlohmann::json result;   // null when there is none
    std::string unfinished;  // what it did, as judge_timeline.hpp has it, when that is all there is
};

using Outcomes = std::vector<std::vector<Outcome>>;  // by case, by rank

}  // namespace grade
