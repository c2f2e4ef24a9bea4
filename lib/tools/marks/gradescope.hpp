// Gradescope's results.json.
#pragma once

#include <cstdint>
#include <string>

#include "lib/tools/marks/marked.hpp"

namespace shardlings {

/// One test for each part, worth its points; parts that are not judged yet have 0 of them, so that what is
/// written while grading goes on is valid, and right as far as it goes. "score" is the sum, less what being
/// late costs. The leaderboard has traffic and virtual time of the parts that pass and are visible.
std::string gradescope_json(const Marked& marked);

/// What /autograder/submission_metadata.json says of time, in seconds since 1970.
struct SubmissionTimes {
    std::int64_t submitted = 0;
    std::int64_t due = 0;  // of this student, when that was extended
};
/// Error when it is no such file.
SubmissionTimes read_submission_metadata(const std::string& file);

}  // namespace shardlings
