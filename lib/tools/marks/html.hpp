// Self-contained HTML pages: of a student, and of a class.
#pragma once

#include <string>
#include <vector>

#include "lib/tools/marks/marked.hpp"

namespace shardlings {

/// A table of the parts with points and tests, then what is wrong with each that is not done. No script, no
/// link to elsewhere; text from outside is text.
std::string student_html(const Marked& marked);

/// A line for each submission, with a link to its page (`pages`, in the same order; "" for none), and how
/// many have done each part.
std::string class_html(const std::string& title, const std::vector<Marked>& all,
                       const std::vector<std::string>& pages);

}  // namespace shardlings
