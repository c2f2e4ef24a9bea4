// Text: the bytes that a model learns from, and which of them are kept for validation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace shardlings {

/// n bytes. The last floor(n / 10) are the validation split, those before are the training split.
class Text {
  public:
    /// `origin` is how messages call it. Error when there are no bytes.
    Text(std::string bytes, std::string origin);

    std::span<const std::uint8_t> training() const;
    std::span<const std::uint8_t> validation() const;
    const std::string& origin() const { return origin_; }

  private:
    std::string bytes_;
    std::string origin_;
    std::size_t training_size_ = 0;
};

/// The bytes of a regular file; Error when it is missing, may not be read, is a folder or empty.
Text load_text(const std::filesystem::path& path);

/// The course's own texts under the project's root folder: README.md, lessons/*/README.md and every README.md
/// below lib/, in the order of their paths, compared byte by byte, one after the other.
Text load_course_text(const std::filesystem::path& root);

/// The project's root folder: the nearest that has lessons/ and lib/machine/ among the folders that the
/// program lies in, or else the current folder and those it lies in. Error when there is none.
std::filesystem::path find_project_root();

}  // namespace shardlings
