#include <algorithm>
#include <map>
#include <string>

#include "lessons/07_gpipe/check.hpp"
#include "lib/machine/base/error.hpp"

using namespace pipeline;

namespace {

/// "stage 0 waits in 'receive gradient 0' for stage 1, which waits in …".
std::string waiting_text(const Schedule& schedule, const std::vector<std::size_t>& next)
{
    std::string text = "the schedule cannot go on:";
    for (std::size_t s = 0; s < next.size(); ++s)
        if (next[s] < schedule.programs[s].size())
            text += fmt::format("\n  stage {} waits in '{}'", s, to_string(schedule.programs[s][next[s]]));
    return text;
}

}  // namespace

std::vector<std::vector<Span>> pipeline::simulate(const Schedule& schedule, const PassCosts& costs)
{
    const std::size_t stages = schedule.programs.size();
    std::vector<std::vector<Span>> spans(stages);
    // Your code: see lessons/07_gpipe/check.hpp (hints: make hint-07 PART=07.5)
    not_implemented("07.5 simulate");
    return spans;
}

double pipeline::bubble_fraction(const Schedule& schedule, const std::vector<std::vector<Span>>& spans)
{
    // Your code: see lessons/07_gpipe/check.hpp (hints: make hint-07 PART=07.5)
    not_implemented("07.5 bubble_fraction");
}

std::vector<int> pipeline::most_in_flight(const Schedule& schedule)
{
    std::vector<int> most;
    // Your code: see lessons/07_gpipe/check.hpp (hints: make hint-07 PART=07.5)
    not_implemented("07.5 most_in_flight");
    return most;
}
