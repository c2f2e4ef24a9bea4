// make exercise-NN and make solution-NN: the tests of a lesson's parts on the student's code or the
// reference.
#pragma once

#include <string>

#include "lib/tools/course/places.hpp"
#include "lib/tools/course/runner.hpp"
#include "lib/tools/course/show.hpp"

namespace shardlings {

struct TestRequest {
    std::string lesson;  // "01"
    std::string part;    // "01.3"; empty: all
    std::string code;    // "exercise" or "solution"
    Detail detail = Detail::first_few;
};

/// Runs the tests and prints how each part stands. Results of exercises are kept in the progress file. When a
/// run of one part leaves the whole lesson done, all of it is run once more. True when all that ran pass.
bool test_lesson(const Places& places, const Manifest& manifest, const Runner& runner,
                 const TestRequest& request);

/// Why the student's file has no driver that is as new as it: the first errors of compiler or linker. Empty
/// when there is one. `whose` is "exercise" or "submission/NAME", `source` the file that was compiled.
std::string build_failure(const Places& places, const Lesson& lesson, const Part& part,
                          const std::string& whose, const std::filesystem::path& source);

}  // namespace shardlings
