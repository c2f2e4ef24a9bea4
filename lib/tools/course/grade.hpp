// shardlings grade: the points of a submission.
#pragma once

#include <string>
#include <vector>

#include "lib/tools/course/places.hpp"
#include "lib/tools/course/runner.hpp"

namespace shardlings {

struct GradedPart {
    Part part;
    bool submitted = false;  // false: there is no such file
    PartResult result;

    double earned() const { return submitted ? result.earned(part.points) : 0.0; }
    /// "done", "failing", "not implemented", "does not compile", "missing".
    std::string status() const { return submitted ? name_of(result.status) : "missing"; }
};

struct Grade {
    std::vector<GradedPart> parts;
    std::string seed;  // of the tests' random inputs

    double score() const;
    double max() const;
};

/// Grades the exercises in `folder`: exercises/NN_name/X.cpp in it, or NN_name/X.cpp. Only the files that the
/// manifest names are copied, built with make under `places.build` and judged, each with the reference for
/// all the rest; the copies and what was built of them are removed afterwards. A file that is missing or does
/// not compile earns nothing and leaves the others alone. Error when the folder holds no exercise at all.
Grade grade_submission(const Places& places, const Manifest& manifest, const Runner& runner,
                       const std::filesystem::path& folder, const std::string& seed);

/// {"score", "max", "seed", "exercises": [{"id", "title", "points", "max", "status", "note", "tests":
/// [{"name", "passed", "messages"}]}]}; "note" where something went wrong outside of all tests.
std::string grade_json(const Grade& grade);

void print_grade(const Grade& grade);

}  // namespace shardlings
