// The grade of a submission as a file, which a later run finds.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "lib/tools/marks/marked.hpp"

namespace shardlings {

/// Writes {"name", "key", "seconds", "error", "grade"}, whole or not at all. `key` tells what was graded and
/// by what.
void keep_grade(const std::filesystem::path& file, const std::string& key, const Marked& marked);

/// The grade in the file if it has this key; nothing when there is none, when it has another key, or when it
/// is damaged.
std::optional<Marked> kept_grade(const std::filesystem::path& file, const std::string& key,
                                 const Manifest& manifest);

/// A grade of which nothing is judged.
Grade no_grade(const Manifest& manifest, const std::string& seed);

}  // namespace shardlings
