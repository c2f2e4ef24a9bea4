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
    // Your code: see lessons/06_pipeline/schedule.hpp (hints: make hint-06 PART=06.2)
    not_implemented("06.2 append_pass");
}

Schedule pipeline::naive_schedule(int stages, int micro_batches)
{
    check(stages >= 1 && micro_batches >= 1,
          "a schedule of {} stages and {} micro-batches: expected 1 or more of each", stages, micro_batches);
    Schedule schedule{stages, micro_batches, 1, {}};
    // Your code: see lessons/06_pipeline/schedule.hpp (hints: make hint-06 PART=06.2)
    not_implemented("06.2 naive_schedule");
    return schedule;
}
