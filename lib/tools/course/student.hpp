// What a student asks for besides tests: hints, the skeleton back, watching the files.
#pragma once

#include <string>

#include "lib/tools/course/places.hpp"

namespace shardlings {

/// Prints the hints of a part that were shown before and the next one; after the last it says so. Of a part
/// that is done, or when `solution` asks for it, it says where the reference lies instead. Without `part`:
/// the first that is not done.
void show_hint(const Places& places, const Manifest& manifest, const std::string& lesson,
               const std::string& part, bool solution);

/// Puts back the skeletons of a lesson, or of the file of one part, after copying the student's files to
/// exercises/NN_name/.backup-DATE-TIME/. Files that are as generated are left alone.
void reset_exercises(const Places& places, const Manifest& manifest, const std::string& lesson,
                     const std::string& part);

/// Runs `make exercise-NN PART=…` whenever a file under exercises/ is saved. When standard input is a
/// terminal, keys are read: h(int), n(ext open part), l(ist), r(un again), q(uit). Returns at q.
void watch_exercises(const Places& places);

}  // namespace shardlings
