// Self-contained HTML pages: of a student, and of a class.
#pragma once

#include <string>
#include <vector>

#include "lib/tools/marks/marked.hpp"

namespace shardlings {

/// How many parts are in which state, a table of the parts, then what is wrong with each that is not done,
/// which the table and class_html link to, with a picture where a case on several ranks failed. No script, no
/// link to elsewhere; text from outside is text. With `overview` it begins with a link to that file.
std::string student_html(const Marked& marked, const std::string& overview = "");

/// A line for each submission, with a link to its page (`pages`, in the same order; "" for none); what each
/// has of each part; and of each part how many have done it and what most of the others were told.
std::string class_html(const std::string& title, const std::vector<Marked>& all,
                       const std::vector<std::string>& pages);

}  // namespace shardlings
