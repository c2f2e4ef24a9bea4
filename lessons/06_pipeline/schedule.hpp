// A schedule is data: for every stage the list of what it does, in order. It can be printed, drawn and
// checked without running it, and one engine runs them all.
//
// The model is cut into P · V chunks of consecutive blocks; chunk number v of stage s is the (v P + s)-th of
// the model. V is 1 unless a schedule is interleaved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/machine/base/error.hpp"

namespace pipeline {

using namespace shardlings;

enum class Action : std::uint8_t {
    receive_activation,
    forward,
    send_activation,
    receive_gradient,
    backward,
    send_gradient,
};

/// `chunk` = 0 … V − 1, of the stage that does it.
struct Instruction {
    Action action;
    int micro_batch = 0;
    int chunk = 0;
    bool operator==(const Instruction&) const = default;
};

/// "forward 3", "receive gradient 0 of chunk 1".
std::string to_string(const Instruction& instruction);

using Program = std::vector<Instruction>;

struct Schedule {
    int stages = 1;                 // P
    int micro_batches = 1;          // M
    int chunks = 1;                 // V, of each stage
    std::vector<Program> programs;  // one a stage
};

/// Where in the model a chunk of a stage is: before it and behind it are other chunks, or the ends.
inline bool is_first_chunk(int stage, int chunk)
{
    return stage == 0 && chunk == 0;
}
inline bool is_last_chunk(const Schedule& schedule, int stage, int chunk)
{
    return stage == schedule.stages - 1 && chunk == schedule.chunks - 1;
}

/// 06.2 Appends one pass with its messages: what it needs is received right before it, unless it begins at an
/// end of the model, and its result is sent right after it, unless it ends there.
///   forward:  [receive_activation] forward [send_activation]
///   backward: [receive_gradient] backward [send_gradient]
void append_pass(const Schedule& schedule, int stage, Action pass, int micro_batch, int chunk,
                 Program& program);

/// 06.2 One micro-batch after the other, forward through all stages and backward again: one stage works at a
/// time. Error for stages or micro_batches < 1.
Schedule naive_schedule(int stages, int micro_batches);

}  // namespace pipeline
