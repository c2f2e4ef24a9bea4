#include "lib/tools/schedule/formulas.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace shardlings {

namespace {

std::vector<int> held_by_stage(std::string_view name, const pipeline::Schedule& schedule)
{
    const int p = schedule.stages;
    const int m = schedule.micro_batches;
    const int v = schedule.chunks;
    std::vector<int> held;
    for (int s = 0; s < p; ++s) {
        if (name == "naive") held.push_back(1);
        if (name == "gpipe") held.push_back(m);
        if (name == "1f1b" || (name == "interleaved" && v == 1)) held.push_back(std::min(m, p - s));
        if (name == "interleaved" && v > 1)
            held.push_back(std::min(m * v, 2 * (p - s - 1) + (v - 1) * p + 1));
    }
    return held;
}

}  // namespace

std::optional<ScheduleFormulas> formulas_of(std::string_view name, const pipeline::Schedule& schedule)
{
    const int p = schedule.stages;
    const auto formulas = [&](const char* bubble, int whole, const char* in_flight) {
        return ScheduleFormulas{static_cast<double>(p - 1) / whole,
                                fmt::format("{} = {}/{}", bubble, p - 1, whole),
                                held_by_stage(name, schedule), in_flight};
    };
    const int turns = schedule.micro_batches * schedule.chunks + p - 1;
    if (name == "naive") return formulas("(P - 1)/P", p, "1");
    if (name == "gpipe") return formulas("(P - 1)/(M + P - 1)", turns, "M");
    if (name == "1f1b" || (name == "interleaved" && schedule.chunks == 1))
        return formulas("(P - 1)/(M + P - 1)", turns, "min(M, P - s)");
    if (name == "interleaved")
        return formulas("(P - 1)/(V M + P - 1)", turns, "min(V M, 2 (P - s - 1) + (V - 1) P + 1)");
    return {};
}

}  // namespace shardlings
