// What a student has done so far, in the file .progress.json at the repository's root.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "lib/tools/course/places.hpp"
#include "lib/tools/course/runner.hpp"

namespace shardlings {

/// What is remembered about a part.
struct Record {
    std::optional<Status> status;  // of the last run; none: never run
    int passed = 0;                // of `tests`, in the last run
    int tests = 0;
    std::string hash;  // of the exercise file when it was run
    int hints = 0;     // shown so far

    double earned(double points) const { return tests > 0 ? points * passed / tests : 0.0; }
    bool done() const { return status == Status::done; }
};

class Progress {
  public:
    /// Reads the file; nothing is done when there is none. Error when it is not one that save() wrote.
    static Progress load(const std::filesystem::path& file);
    /// Writes it whole or not at all.
    void save() const;

    Record& operator[](const std::string& part) { return records_[part]; }
    /// What is remembered about a part; an empty record when nothing is.
    Record of(const std::string& part) const;

    /// Books the result of a run on the file whose hash is `hash`.
    void book(const std::string& part, const PartResult& result, const std::string& hash);

  private:
    std::filesystem::path file_;
    std::map<std::string, Record> records_;
};

/// The first part of the lesson that is not done, or null.
const Part* first_open_part(const Lesson& lesson, const Progress& progress);

/// The hash of a part's exercise file as it is now; empty when there is none.
std::string exercise_hash(const Places& places, const Lesson& lesson, const Part& part);

/// Prints all lessons and parts: done, failing, not started; changed since the last run; tests and points.
void show_progress(const Places& places, const Manifest& manifest);

}  // namespace shardlings
