#include "lessons/06_pipeline/schedule.hpp"

#include <array>

#include "lib/machine/base/error.hpp"

using namespace pipeline;

std::string pipeline::to_string(const Instruction& instruction)
{
    constexpr std::array<const char*, 6> names{"receive activation", "forward",  "send activation",
                                               "receive gradient",   "backward", "send gradient"};
    const std::string text =
        fmt::format("{} {}", names.at(static_cast<std::size_t>(instruction.action)), instruction.micro_batch);
    return instruction.chunk == 0 ? text : fmt::format("{} of chunk {}", text, instruction.chunk);
}

void pipeline::append_pass(const Schedule& schedule, int stage, Action pass, int micro_batch, int chunk,
                           Program& program)
{
    check(pass == Action::forward || pass == Action::backward,
          "append_pass adds a forward or a backward pass");
    // BEGIN SOLUTION 06.2 append_pass
    const bool first = is_first_chunk(stage, chunk);
    const bool last = is_last_chunk(schedule, stage, chunk);
    const bool forward = pass == Action::forward;
    if (forward ? !first : !last)
        program.push_back(
            {forward ? Action::receive_activation : Action::receive_gradient, micro_batch, chunk});
    program.push_back({pass, micro_batch, chunk});
    if (forward ? !last : !first)
        program.push_back({forward ? Action::send_activation : Action::send_gradient, micro_batch, chunk});
    // END SOLUTION
}

Schedule pipeline::naive_schedule(int stages, int micro_batches)
{
    check(stages >= 1 && micro_batches >= 1,
          "a schedule of {} stages and {} micro-batches: expected 1 or more of each", stages, micro_batches);
    Schedule schedule{stages, micro_batches, 1, {}};
    // BEGIN SOLUTION 06.2 naive_schedule
    schedule.programs.resize(static_cast<std::size_t>(stages));
    for (int stage = 0; stage < stages; ++stage)
        for (int m = 0; m < micro_batches; ++m) {
            Program& program = schedule.programs[static_cast<std::size_t>(stage)];
            append_pass(schedule, stage, Action::forward, m, 0, program);
            append_pass(schedule, stage, Action::backward, m, 0, program);
        }
    // END SOLUTION
    return schedule;
}
