// shardlings grade-all: a class of submissions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/tools/course/places.hpp"
#include "lib/tools/course/points.hpp"
#include "lib/tools/marks/marked.hpp"

namespace shardlings {

struct ClassRequest {
    std::filesystem::path folder;  // its entries are the submissions
    std::filesystem::path out;     // takes grades/NAME.json, students/NAME.html, class.csv, class.html
    std::string seed;              // of all; empty: that of an earlier run into `out`, or a new one
    int jobs = 2;                  // submissions graded at a time
    std::filesystem::path times;   // "name,time" lines; empty: nobody is late
    LatePolicy late;
    // To be free for each job, in the folders below: what a submission with all exercises is built to.
    std::uintmax_t free_bytes = std::uintmax_t{512} << 20;
    std::vector<std::filesystem::path> writes_to;  // besides `out`
    // Of `slices` equal parts of the class only number `slice`, from 1; then no reports are written.
    int slice = 1;
    int slices = 1;
};

/// Why a submission could not be graded: nothing, its own fault, or this machine's.
struct GradingProblem {
    std::string text;
    bool of_machine = false;
};

/// Grades one submission with a seed, on its own, and writes grade_json to a file, at first and after each
/// part. Called from several threads at once.
using GradeOne = std::function<GradingProblem(const std::filesystem::path& submission,
                                              const std::string& seed, const std::filesystem::path& json)>;

/// Grades all submissions that have no grade in `out` yet and writes the reports of all. A grade there counts
/// when it is of the same submission, tests and seed; points and late days are worked out anew each time. A
/// submission that cannot be graded has a grade of nothing, with the reason, which is kept too unless it is
/// the machine's. Grades appear whole or not at all, so that a run that was killed is taken up by starting it
/// again. Error when `out` cannot be written, when too little space is free, and, when all else is done,
/// when the machine was the reason for one.
std::vector<Marked> grade_class(const Places& places, const Manifest& manifest, const ClassRequest& request,
                                const GradeOne& grade_one);

}  // namespace shardlings
