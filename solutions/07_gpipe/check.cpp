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
        // BEGIN SOLUTION 07.4 check_instruction
        check(done_.insert(i).second, "stage {}: '{}' is done twice", stage_, to_string(i));
        if (is_receive(i.action)) {
            const Action pass = i.action == Action::receive_activation ? Action::forward : Action::backward;
            check(!begins_here(as(pass)),
                  "stage {}: '{}': this chunk is at the end of the model, nothing is sent to it", stage_,
                  to_string(i));
            check(!done_.contains(as(pass)), "stage {}: '{}' comes after the pass that needs it", stage_,
                  to_string(i));
        } else if (is_send(i.action)) {
            const Action pass = i.action == Action::send_activation ? Action::forward : Action::backward;
            check(results_.erase(as(pass)) == 1, "stage {}: '{}': there is no such result to send", stage_,
                  to_string(i));
        } else {
            const Action receive =
                i.action == Action::forward ? Action::receive_activation : Action::receive_gradient;
            check(begins_here(i) || done_.contains(as(receive)), "stage {}: '{}' needs '{}' before it",
                  stage_, to_string(i), to_string(as(receive)));
            if (i.action == Action::backward) {
                check(done_.contains(as(Action::forward)), "stage {}: '{}' needs '{}' before it", stage_,
                      to_string(i), to_string(as(Action::forward)));
                const auto [last, first_time] = last_backward_.try_emplace(i.chunk, i.micro_batch);
                check(first_time || last->second < i.micro_batch,
                      "stage {}: '{}' comes after micro-batch {}: backward passes must go in ascending "
                      "order, or "
                      "gradients add up in another order than in a single process",
                      stage_, to_string(i), last->second);
                last->second = i.micro_batch;
            }
            if (!ends_here(i)) results_.insert(i);
        }
        // END SOLUTION
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
    // BEGIN SOLUTION 07.4 check_schedule
    for (const Message& message : sent)
        check(received.contains(message),
              "the {} of micro-batch {} behind chunk {} of the model is sent, but never received",
              std::get<2>(message) ? "activation" : "gradient", std::get<1>(message), std::get<0>(message));
    for (const Message& message : received)
        check(sent.contains(message),
              "the {} of micro-batch {} behind chunk {} of the model is received, but never sent",
              std::get<2>(message) ? "activation" : "gradient", std::get<1>(message), std::get<0>(message));
    simulate(schedule, {});
    // END SOLUTION
}
