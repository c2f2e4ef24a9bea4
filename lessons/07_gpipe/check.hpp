// 07.4 and 07.5 What can be known of a schedule without running it.
#pragma once

#include <span>
#include <tuple>
#include <vector>

#include "lessons/06_pipeline/schedule.hpp"

namespace pipeline {

/// A message: the number b of the boundary it crosses, between chunks b and b + 1 of the model, its
/// micro-batch, and whether it is an activation (or a gradient, which goes the other way).
using Message = std::tuple<int, int, bool>;

inline bool is_receive(Action action)
{
    return action == Action::receive_activation || action == Action::receive_gradient;
}
inline bool is_send(Action action)
{
    return action == Action::send_activation || action == Action::send_gradient;
}
/// The message of a send or receive on `stage`.
inline Message message_of(const Schedule& schedule, int stage, const Instruction& i)
{
    const bool activation = i.action == Action::receive_activation || i.action == Action::send_activation;
    const bool behind = i.action == Action::send_activation || i.action == Action::receive_gradient;
    return {i.chunk * schedule.stages + stage - (behind ? 0 : 1), i.micro_batch, activation};
}

/// 07.4 Error, with the stage and the instruction ("stage 1", to_string), unless: every micro-batch goes
/// forward and backward once through every chunk of every stage, backward after forward and, within a chunk,
/// in ascending order; every pass has received before it what it needs, once, and sends its result after it,
/// once; every receive has its send on the neighbour, and the other way round; and no stages wait for each
/// other (sends do not wait): then what each of them waits for is named. Receives need not be right before
/// their pass, nor sends right behind it.
void check_schedule(const Schedule& schedule);

/// Seconds of one pass over one micro-batch and chunk, and of a message between neighbours.
struct PassCosts {
    double forward = 1.0;
    double backward = 2.0;
    double message = 0.0;
};

/// When an instruction of a program runs.
struct Span {
    double begin;
    double end;
};

/// 07.5 The times of all instructions, [stage][index in its program]. Each begins when the one before it on
/// its stage has ended. Passes take their cost; a receive ends when its message has arrived, at once if that
/// was before; a send takes no time of the stage: its message arrives `message` after that or after the
/// stage's message before it, whichever is later (one link a device, as in the machine). Error for a schedule
/// that cannot go on, with what each stage waits for.
std::vector<std::vector<Span>> simulate(const Schedule& schedule, const PassCosts& costs);

/// The part of all stages' time, from 0 to the last end of any stage, in which no pass runs:
/// (P − 1)/(M + P − 1) for GPipe and 1F1B with free messages, (P − 1)/(V M + P − 1) interleaved.
double bubble_fraction(const Schedule& schedule, const std::vector<std::vector<Span>>& spans);

/// The most (micro-batch, chunk) pairs that have gone forward and not yet backward at one time, for every
/// stage.
std::vector<int> most_in_flight(const Schedule& schedule);

}  // namespace pipeline
