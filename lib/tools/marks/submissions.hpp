// The submissions of a class: the entries of a folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "lib/tools/course/places.hpp"

namespace shardlings {

struct Submissions {
    std::vector<std::filesystem::path> found;  // folders and archives, by name
    std::vector<std::string> left_out;         // names of what is neither
};

/// The entries of `folder`: folders, .zip, .tar.gz, .tgz and .tar files. What begins with a dot, other files
/// and links are left out. Error when nothing is left.
Submissions find_submissions(const std::filesystem::path& folder);

/// Changes when what is graded does: an exercise of the folder, or the archive. Other files of the folder do
/// not count, and what cannot be read has no hash of its own. Never an error.
std::string hash_of_submission(const Manifest& manifest, const std::filesystem::path& submission);

/// Changes when what judges does: the tests, the reference and the machine they are linked with.
std::string hash_of_tests(const Places& places, const Manifest& manifest);

/// Name of a submission → seconds since 1970, of a file with a line "name,time" each. Error naming the line.
std::map<std::string, std::int64_t> read_times(const std::filesystem::path& file);

}  // namespace shardlings
