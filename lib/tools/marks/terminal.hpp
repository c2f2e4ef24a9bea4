// A grade as lines for a terminal.
#pragma once

#include "lib/tools/course/grade.hpp"

namespace shardlings {

/// Prints a line for each part, with the first of what is wrong with it, and the score.
void print_grade(const Grade& grade);

}  // namespace shardlings
