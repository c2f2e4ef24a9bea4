// shardlings grade: the points of a submission.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/tools/course/places.hpp"
#include "lib/tools/course/runner.hpp"

namespace shardlings {

struct GradedPart {
    Part part;
    bool submitted = false;  // false: there is no such file
    PartResult result;
    bool judged = true;  // false: not yet, or never, because the grader was stopped

    double earned() const;
    /// "done", "failing", "not implemented", "does not compile", "missing", "not graded".
    std::string status() const;
};

struct Grade {
    std::vector<GradedPart> parts;
    std::string seed;           // of the tests' random inputs
    bool tamper_proof = false;  // judged in a sandbox; else every report says so
    int days_late = 0;          // days begun after the due date
    double percent_off = 0.0;   // of the points earned, for being late

    double earned() const;  // before that
    double score() const { return earned() * (1.0 - percent_off / 100.0); }
    double max() const;
};

/// Called with the grade as it is so far: at first with nothing judged, then after each part.
using GradeSoFar = std::function<void(const Grade&)>;

/// Grades the exercises in `folder`, or in an archive (Submission): exercises/NN_name/X.cpp, or
/// NN_name/X.cpp. They are compiled and run in a sandbox where there is one, and objects that hold what no
/// solution needs are not run at all (grade::objections). Only the files that the manifest names are copied,
/// built with make under `places.build` and judged, each with the reference for all the rest; the copies and
/// what was built of them are removed afterwards. A file that is missing or does not compile earns nothing
/// and leaves the others alone; one that is as it was handed out is not built. Error when the folder holds no
/// exercise at all.
Grade grade_submission(const Places& places, const Manifest& manifest, const Runner& runner,
                       const std::filesystem::path& folder, const std::string& seed,
                       const GradeSoFar& so_far = {});

/// {"score", "earned", "max", "days_late", "percent_off", "seed", "tamper_proof", "exercises": [{"id",
/// "title", "points", "max", "status", "note", "traffic_bytes", "virtual_seconds", "tests": [{"name",
/// "passed", "messages"}]}]}; "note" where something went wrong outside of all tests, "timeline" where one of
/// a case that failed is there: what note_timeline() of grade/judge_timeline.hpp wrote, as a string.
std::string grade_json(const Grade& grade);
/// The grade that `json`, of grade_json, holds, with the points that `manifest` now gives. Error when it is
/// no such text, or holds other parts than the manifest.
Grade grade_of_json(const std::string& json, const Manifest& manifest);

}  // namespace shardlings
