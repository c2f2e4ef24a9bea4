// In which order the ranks' processes let go of their records.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace shardlings::watch {

/// A rank keeps its record open for writing, and the kernel closes it when the rank ends, before the files by
/// which a launcher sees that. So the first rank to close its record is the one that ended first, however
/// fast the launcher ended the others and however late one looks.
class Closings {
  public:
    /// Of the files in `folder`, from now on. Where there is no inotify, nothing is ever known.
    explicit Closings(const std::string& folder);
    ~Closings();
    Closings(const Closings&) = delete;
    Closings& operator=(const Closings&) = delete;

    void take();
    /// How many files were closed before this one was for the first time; `not_closed` when none is known.
    std::size_t place_of(const std::string& name) const;

    static constexpr std::size_t not_closed = static_cast<std::size_t>(-1);

  private:
    std::map<std::string, std::size_t> places_;
    int events_;
};

}  // namespace shardlings::watch
