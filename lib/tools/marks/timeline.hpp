// The picture of a case that failed.
#pragma once

#include <string>

#include "lib/tools/marks/page.hpp"

namespace shardlings {

/// A heading line, the picture of lib/tools/trace with what became of each rank at its end, and how to read
/// it, at the end of `parent`; of text that is no timeline (grade/judge_timeline.hpp) nothing.
void add_timeline(pugi::xml_node parent, const std::string& timeline);

}  // namespace shardlings
