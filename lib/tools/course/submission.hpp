// What somebody handed in: a folder or an archive, of which only the exercises are taken.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lib/machine/base/error.hpp"
#include "lib/tools/course/manifest.hpp"
#include "lib/tools/launch/launch.hpp"

namespace shardlings {

/// Nothing of a submission can be graded, and that is the submission's doing, not the machine's.
struct SubmissionError : Error {
    using Error::Error;
};

/// The exercises of a submission as plain files. An archive (.zip, .tar.gz, .tgz, .tar) is unpacked into a
/// folder of its own, in a sandbox where there is one; nothing is written elsewhere, whatever is in it.
class Submission {
  public:
    /// SubmissionError when `path` is neither, cannot be looked into, or is no archive inside.
    Submission(const std::filesystem::path& path, const Manifest& manifest);

    /// Whether there is a part's file. When something else has its name (a link, a folder, more than 1 MiB),
    /// or it cannot be read, left_out() says so.
    bool has(const Lesson& lesson, const Part& part);
    /// The text of a file that is there.
    std::string text_of(const Lesson& lesson, const Part& part) const;

    /// "00_devices/ring.cpp is a link", …
    const std::vector<std::string>& left_out() const { return left_out_; }

  private:
    void unpack(const std::filesystem::path& archive, const Manifest& manifest);
    bool is_plain(const std::filesystem::path& file);

    TemporaryFolder unpacked_;
    std::filesystem::path folder_;
    std::vector<std::string> left_out_;
};

}  // namespace shardlings
