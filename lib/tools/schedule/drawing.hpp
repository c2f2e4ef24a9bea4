// A schedule as a drawing of characters.
#pragma once

#include <string>
#include <vector>

#include "lessons/07_gpipe/check.hpp"

namespace shardlings {

/// When the last of what simulate gives ends.
double end_of(const std::vector<std::vector<pipeline::Span>>& spans);

/// `spans` as simulate gives them, with the same costs. A row a stage, a column a unit of virtual time; for
/// two stages and two micro-batches
///
///   stage 0  0 1 . . . 0'0'1'1'
///   stage 1  . 0 1 0'0'1'1'. .
///
/// where 0 is micro-batch 0 forward, 0' backward and a dot is idle. With several chunks a letter names the
/// chunk: 0a forward, 0A backward. What would be wider than a terminal has a row for the forward and one for
/// the backward passes of every chunk, with the last digit of the micro-batch's number; and what is wider
/// still has columns of a longer time, each showing what takes most of it. Above the rows a line says what
/// is what.
std::string draw_schedule(const pipeline::Schedule& schedule,
                          const std::vector<std::vector<pipeline::Span>>& spans,
                          const pipeline::PassCosts& costs);

}  // namespace shardlings
