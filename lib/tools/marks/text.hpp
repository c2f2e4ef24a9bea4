// Text from submissions, made fit for reports: nothing in it can control a terminal, a browser or a
// spreadsheet.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/tools/course/grade.hpp"

namespace shardlings {

/// Valid UTF-8 of at most `bytes`, without control characters (also those of two bytes, and those that turn
/// the direction of writing), without what XML forbids: each becomes a space or U+FFFD. No line breaks.
std::string plain_line(std::string_view text, std::size_t bytes = 500);

/// The same for a text of lines; of more than `lines`, how many are left out is said at the end.
std::string plain_lines(const std::vector<std::string>& text, std::size_t lines = 60);

/// What a report says of a part that is not done: the failures, or the compiler's first error; empty when
/// there is nothing to say.
std::string diagnosis(const GradedPart& graded);

/// "3 of 4 tests", or empty when none ran.
std::string tests_passed(const GradedPart& graded);

/// Whether anything of the submission was looked at.
bool was_judged(const Grade& grade);

/// What every report must say of a grade that is not tamper-proof; empty for one that is, or of nothing.
std::string caution(const Grade& grade);

/// "2 days late: 20 % off 35 points", or empty.
std::string late_text(const Grade& grade);

/// A file name of letters, digits, - _ and . that no other `name` gives.
std::string file_name_for(const std::string& name);

}  // namespace shardlings
