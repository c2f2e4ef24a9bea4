// mpirun's own notices about a failed job, taken out of what the user sees.
#pragma once

#include <string>
#include <string_view>

namespace shardlings {

/// A failed rank says what was wrong; OpenMPI 5 adds up to two boxes that only say that a rank failed, and
/// has no option against it, and MPICH a line. A box is a line of dashes, text, a line of dashes; other boxes
/// pass.
class NoticeFilter {
  public:
    /// What of `text`, and of text held back before, is for the user. An unfinished box is held back.
    std::string pass(std::string_view text);
    /// At the end: what was still held back.
    std::string finish();

  private:
    void take_line(std::string_view line, std::string& shown);

    std::string line_;  // the line being read, held back while it may become one of dashes
    std::string box_;   // the box being read, from its opening line on
    bool middle_of_line_ = false;
};

}  // namespace shardlings
