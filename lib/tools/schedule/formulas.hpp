// What theory says of the named schedules, to be put beside what is measured.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/06_pipeline/schedule.hpp"

namespace shardlings {

struct ScheduleFormulas {
    double bubble;               // share of all stages' time, with equal passes and free messages
    std::string bubble_text;     // "(P - 1)/(M + P - 1) = 3/11"
    std::vector<int> in_flight;  // most (micro-batch, chunk) pairs held at one time, by stage
    std::string in_flight_text;  // "min(M, P - s)"
};

/// Of the schedule that make_schedule gives for this name; nothing for another name.
///   naive        bubble (P − 1)/P, in flight 1
///   gpipe        bubble (P − 1)/(M + P − 1), in flight M
///   1f1b         bubble (P − 1)/(M + P − 1), in flight min(M, P − s)
///   interleaved  bubble (P − 1)/(V M + P − 1), in flight min(M V, 2 (P − s − 1) + (V − 1) P + 1)
std::optional<ScheduleFormulas> formulas_of(std::string_view name, const pipeline::Schedule& schedule);

}  // namespace shardlings
