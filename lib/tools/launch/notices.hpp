// mpirun's own notices about a failed job, taken out of what the user sees.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace shardlings {

/// A failed rank says what was wrong; OpenMPI adds up to two boxes that only say that a rank failed, and
/// MPICH a line. They are left out. A rank that was killed says nothing: of the box about it one line is
/// made, "rank 3 was ended by signal 9 (Killed)", with what the rank has written about itself to
/// `run_folder`/rank-3, such as the stage that it is. A box is a line of dashes, text, a line of dashes;
/// other boxes pass.
class NoticeFilter {
  public:
    explicit NoticeFilter(std::string run_folder = "") : run_folder_(std::move(run_folder)) {}

    /// What of `text`, and of text held back before, is for the user. An unfinished box is held back.
    std::string pass(std::string_view text);
    /// At the end: what was still held back.
    std::string finish();

  private:
    void take_line(std::string_view line, std::string& shown);
    void take_box(std::string& shown);

    std::string run_folder_;
    std::string line_;  // the line being read, held back while it may become one of dashes
    std::string box_;   // the box being read, from its opening line on
    bool middle_of_line_ = false;
};

}  // namespace shardlings
