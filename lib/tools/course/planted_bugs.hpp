// Tests of the tests: planted bugs that they must find, skeletons that they must call open, solutions that
// they must pass.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/tools/course/places.hpp"
#include "lib/tools/course/runner.hpp"

namespace shardlings {

/// The bugs in tests/NN_name/wrong/*.toml, by lesson and name. Error when one names a part or file that the
/// manifest does not have.
std::vector<PlantedBug> planted_bugs(const Places& places, const Manifest& manifest);

/// The solution with the bug in it. Error naming the bug unless `find` is there exactly once.
std::string with_bug(std::string_view solution, const PlantedBug& bug);

/// Why the bug counts as missed, or empty when it was caught: a test failed and a message matches `says`.
std::string why_missed(const PlantedBug& bug, const PartResult& result);

/// Writes build/wrong/NN_name/BUG/FILE for every bug, only where that changes it, and removes those of bugs
/// that are no more.
void plant_bugs(const Places& places, const Manifest& manifest);

/// Runs the tests on every planted bug of which LESSON/NAME begins with `only`, and prints what caught it.
/// True when all are caught.
bool judge_planted_bugs(const Places& places, const Manifest& manifest, const Runner& runner,
                        const std::string& only);

/// Runs the tests on one planted bug, "00_devices/ring_passes_the_sum", and prints what a student would see.
/// True when they find it.
bool show_bug(const Places& places, const Manifest& manifest, const Runner& runner, const std::string& name);

/// Checks that every test of every part fails on the skeleton with "not implemented" and nothing else, and
/// passes on the solution. exercises/ must be as generated. True when all is so.
bool judge_skeletons(const Places& places, const Manifest& manifest, const Runner& runner);

}  // namespace shardlings
