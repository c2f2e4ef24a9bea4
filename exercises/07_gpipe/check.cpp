#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "lessons/07_gpipe/check.hpp"
#include "lib/machine/base/error.hpp"

using namespace pipeline;

namespace {

/// Checks one stage's program by itself.
class ProgramCheck {
  public:
    ProgramCheck(const Schedule& schedule, int stage) : schedule_(schedule), stage_(stage) {}

    void run(const Program& program)
    {
        for (const Instruction& instruction : program) {
            check(instruction.micro_batch >= 0 && instruction.micro_batch < schedule_.micro_batches &&
                      instruction.chunk >= 0 && instruction.chunk < schedule_.chunks,
                  "stage {}: '{}': there are {} micro-batches and {} chunks", stage_, to_string(instruction),
                  schedule_.micro_batches, schedule_.chunks);
            one(instruction);
        }
        for (int chunk = 0; chunk < schedule_.chunks; ++chunk)
            for (int m = 0; m < schedule_.micro_batches; ++m) everything_was_done(m, chunk);
        check(results_.empty(), "stage {}: the result of micro-batch {}, chunk {} is never sent", stage_,
              results_.empty() ? 0 : results_.begin()->micro_batch,
              results_.empty() ? 0 : results_.begin()->chunk);
    }

  private:
    struct Order {
        bool operator()(const Instruction& a, const Instruction& b) const
        {
            return std::tie(a.action, a.micro_batch, a.chunk) < std::tie(b.action, b.micro_batch, b.chunk);
        }
    };
    using Set = std::set<Instruction, Order>;

    /// The end of the model at which a pass needs nothing from, or sends nothing to, a neighbour.
    bool begins_here(const Instruction& i) const
    {
        return i.action == Action::forward ? is_first_chunk(stage_, i.chunk)
                                           : is_last_chunk(schedule_, stage_, i.chunk);
    }
    bool ends_here(const Instruction& i) const
    {
        return i.action == Action::forward ? is_last_chunk(schedule_, stage_, i.chunk)
                                           : is_first_chunk(stage_, i.chunk);
    }

    void one(const Instruction& i)
    {
        const auto as = [&](Action action) { return Instruction{action, i.micro_batch, i.chunk}; };
        // Your code: see lessons/07_gpipe/check.hpp (hints: make hint-07 PART=07.4)
        not_implemented("07.4 check_instruction");
    }

    void everything_was_done(int micro_batch, int chunk) const
    {
        for (const Action pass : {Action::forward, Action::backward}) {
            const Instruction i{pass, micro_batch, chunk};
            check(done_.contains(i), "stage {}: '{}' is missing{}", stage_, to_string(i),
                  pass == Action::backward ? ": its activations would never be freed" : "");
        }
    }

    const Schedule& schedule_;
    int stage_;
    Set done_;
    Set results_;  // passes whose result is still to be sent
    std::map<int, int> last_backward_;
};

}  // namespace

void pipeline::check_schedule(const Schedule& schedule)
{
    check(static_cast<int>(schedule.programs.size()) == schedule.stages, "{} programs for {} stages",
          schedule.programs.size(), schedule.stages);
    std::set<Message> sent;
    std::set<Message> received;
    for (int stage = 0; stage < schedule.stages; ++stage) {
        const Program& program = schedule.programs[static_cast<std::size_t>(stage)];
        ProgramCheck(schedule, stage).run(program);
        for (const Instruction& i : program) {
            if (is_send(i.action)) sent.insert(message_of(schedule, stage, i));
            if (is_receive(i.action)) received.insert(message_of(schedule, stage, i));
        }
    }
    // Your code: see lessons/07_gpipe/check.hpp (hints: make hint-07 PART=07.4)
    not_implemented("07.4 check_schedule");
}
