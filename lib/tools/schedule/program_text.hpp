// A schedule as text: what `shardlings schedule --program` prints and --file reads.
//
//   stages 2
//   micro-batches 4
//   chunks 1
//
//   stage 0
//   forward 0, send activation 0
//   receive gradient 0, backward 0
//   …
//
// Instructions are those of pipeline::to_string, one after the other in lines or between commas. "chunks" may
// be left out when it is 1. What follows a # is a comment.
#pragma once

#include <string>
#include <string_view>

#include "lessons/06_pipeline/schedule.hpp"

namespace shardlings {

/// The programs of all stages: a line for every pass, with what it receives before and sends after it.
std::string program_text(const pipeline::Schedule& schedule);

/// The schedule of such a text: parse_program_text(program_text(s), …) is s. Error with `name` and the line's
/// number for what is none. Whether the schedule can run is check_schedule's to say.
pipeline::Schedule parse_program_text(std::string_view text, std::string_view name);

/// Error unless P, M and V are at least 1 and P M V small enough to be simulated and drawn in seconds.
void check_schedule_size(int stages, int micro_batches, int chunks);

}  // namespace shardlings
