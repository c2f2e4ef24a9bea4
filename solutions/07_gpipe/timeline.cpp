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
    // BEGIN SOLUTION 07.5 simulate
    std::vector<std::size_t> next(stages, 0);
    std::vector<double> now(stages, 0.0);
    std::vector<double> link_free(stages, 0.0);
    std::map<Message, double> arrivals;

    /// One instruction of a stage; false when it has to wait for a message that is not sent yet.
    const auto step = [&](std::size_t s) {
        const Instruction& i = schedule.programs[s][next[s]];
        const Message message = message_of(schedule, static_cast<int>(s), i);
        const double begin = now[s];
        if (is_receive(i.action)) {
            const auto arrival = arrivals.find(message);
            if (arrival == arrivals.end()) return false;
            now[s] = std::max(now[s], arrival->second);
        } else if (is_send(i.action)) {
            link_free[s] = std::max(now[s], link_free[s]) + costs.message;
            arrivals[message] = link_free[s];
        } else {
            now[s] += i.action == Action::forward ? costs.forward : costs.backward;
        }
        spans[s].push_back({begin, now[s]});
        ++next[s];
        return true;
    };
    bool moved = true;
    while (moved) {
        moved = false;
        for (std::size_t s = 0; s < stages; ++s)
            while (next[s] < schedule.programs[s].size() && step(s)) moved = true;
    }
    for (std::size_t s = 0; s < stages; ++s)
        if (next[s] < schedule.programs[s].size()) throw Error(waiting_text(schedule, next));
    // END SOLUTION
    return spans;
}

double pipeline::bubble_fraction(const Schedule& schedule, const std::vector<std::vector<Span>>& spans)
{
    // BEGIN SOLUTION 07.5 bubble_fraction
    double busy = 0.0;
    double end = 0.0;
    for (std::size_t s = 0; s < spans.size(); ++s)
        for (std::size_t i = 0; i < spans[s].size(); ++i) {
            const Action action = schedule.programs[s][i].action;
            if (action == Action::forward || action == Action::backward)
                busy += spans[s][i].end - spans[s][i].begin;
            end = std::max(end, spans[s][i].end);
        }
    return 1.0 - busy / (end * static_cast<double>(spans.size()));
    // END SOLUTION
}

std::vector<int> pipeline::most_in_flight(const Schedule& schedule)
{
    std::vector<int> most;
    // BEGIN SOLUTION 07.5 most_in_flight
    for (const Program& program : schedule.programs) {
        int now = 0;
        most.push_back(0);
        for (const Instruction& i : program) {
            if (i.action == Action::forward) ++now;
            if (i.action == Action::backward) --now;
            most.back() = std::max(most.back(), now);
        }
    }
    // END SOLUTION
    return most;
}
