// What the exercises are worth: the manifest's points, with what an instructor changes in tests/points.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "lib/tools/course/manifest.hpp"

namespace shardlings {

/// What being late costs.
struct LatePolicy {
    std::optional<std::int64_t> due;  // seconds since 1970, UTC; none: a grader must be told
    double percent_per_day = 0.0;     // of the points earned, for each day begun after the due time
    double at_most_percent = 100.0;
    double grace_minutes = 0.0;  // late by no more than this is not late
};

struct Lateness {
    int days = 0;
    double percent_off = 0.0;
};

/// days = ceil((submitted − due) / 1 day), 0 within the grace; percent = min(days · per day, at most).
/// `submitted` and `due` in seconds since 1970.
Lateness lateness(const LatePolicy& policy, std::int64_t submitted, std::int64_t due);

/// Seconds since 1970 of "2026-12-01T23:59:00+01:00" (or Z; seconds and their fraction may be missing; a
/// space may stand for the T). Error for anything else, and for a time without its offset from UTC.
std::int64_t parse_time(const std::string& text);

/// Reads `file` (lib/tools/marks/README.md says what may be in it) and puts what it says into the manifest's
/// parts; without such a file all stays as the manifest has it. Error naming the file and the place when it
/// is no JSON, or names a part or key that does not exist, or a value makes no sense.
LatePolicy apply_points(const std::filesystem::path& file, Manifest& manifest);

/// A line for every part: what it is worth, how it is counted and when the student sees it, and the sum.
void print_points(const Manifest& manifest, const LatePolicy& late);

}  // namespace shardlings
