// The manifest, lessons/manifest.toml: what the lessons are made of. Generation, tests, hints, progress and
// grading read it, so that adding an exercise is adding an entry, a header, a solution and tests.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace shardlings {

/// What a student writes and is judged for at once: one file, or some functions of it.
struct Part {
    std::string id;                  // "01.3"
    std::string title;               // "Layer normalisation"
    std::string file;                // "layer_norm.cpp", in exercises/NN_name and solutions/NN_name
    std::vector<int> ranks;          // the rank counts it is tested with
    double points = 0.0;             // when all its tests pass (of points.hpp, where that says otherwise)
    double seconds = 0.0;            // its tests are stopped after
    int minutes = 0;                 // a student needs
    std::vector<std::string> hints;  // a question, an invariant, pseudocode
    // What tests/points.json says besides (points.hpp).
    bool all_or_nothing = false;         // no points for some of the tests
    std::string visibility = "visible";  // of the result, to the student, in Gradescope's words

    /// The name of its driver: "layer_norm".
    std::string stem() const { return std::filesystem::path(file).stem().string(); }
};

struct Lesson {
    std::string name;   // "01_transformer"
    std::string title;  // "The Transformer"
    std::vector<Part> parts;

    /// "01"
    std::string number() const { return name.substr(0, name.find('_')); }
};

struct Manifest {
    std::vector<Lesson> lessons;
};

/// Error naming the file and the line when it is no TOML, when a key is missing, unknown or of the wrong
/// type, or when what it says makes no sense (two parts of one id, a part of another lesson, a negative
/// number).
Manifest read_manifest(const std::filesystem::path& file);

/// The lesson called "01", "1" or "01_transformer". Error naming the lessons there are.
const Lesson& find_lesson(const Manifest& manifest, std::string_view word);

/// The lesson's part "01.3". Error naming the parts there are.
const Part& find_part(const Lesson& lesson, std::string_view id);

/// A bug to be planted, tests/NN_name/wrong/NAME.toml: one plausible wrong implementation that the tests of a
/// part must reject.
struct PlantedBug {
    std::string lesson;   // "01_transformer"
    std::string name;     // the file's name without .toml
    std::string part;     // "01.3"
    std::string file;     // "layer_norm.cpp"
    std::string find;     // text of the solution, which must be there exactly once
    std::string replace;  // what stands there instead
    std::string says;     // regular expression that a failure's message must match
    std::string why;      // which pitfall this is
};

/// Reads one bug; `lesson` is the name of its lesson. Errors as of read_manifest.
PlantedBug read_planted_bug(const std::filesystem::path& file, const std::string& lesson);

}  // namespace shardlings
