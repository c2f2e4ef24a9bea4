// The grades of a class as a table for spreadsheets.
#pragma once

#include <string>
#include <vector>

#include "lib/tools/marks/marked.hpp"

namespace shardlings {

/// A line of names, then one for each submission: name, score, max, points before lateness, days late,
/// tamper_proof, why it could not be graded, and the points of each part. RFC 4180's quoting; a cell that a
/// spreadsheet would take for a formula begins with an apostrophe.
std::string class_csv(const std::vector<Marked>& all);

}  // namespace shardlings
