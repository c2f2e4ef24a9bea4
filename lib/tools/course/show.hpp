// Results as lines for a terminal.
#pragma once

#include <string>
#include <vector>

#include "lib/tools/course/runner.hpp"

namespace shardlings {

/// How much of the failures' messages is shown.
enum class Detail { first_few, all };

/// The lines of a part's result: one that says how it stands, then what is wrong, indented.
std::vector<std::string> lines_for(const Part& part, const PartResult& result, Detail detail);

/// The failures' messages alone, each once, with the names of the cases that it is about.
std::vector<std::string> failure_lines(const PartResult& result, Detail detail);

}  // namespace shardlings
