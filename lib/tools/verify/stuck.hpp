// What a run says when a case does not end: which case, and where in the source every rank is.
#pragma once

#include <string>

namespace shardlings::verify {

/// One per process: it uses the process's alarm. When a case has not been stopped `seconds` after its start,
/// each rank of its group prints whether it waits (in which call, called from which line), computes (at which
/// line) or has returned, and the process ends with exit code 1. Without a start it does nothing.
class StuckWatch {
  public:
    explicit StuckWatch(double seconds);
    ~StuckWatch();
    StuckWatch(const StuckWatch&) = delete;
    StuckWatch& operator=(const StuckWatch&) = delete;

    /// `group_rank` < 0: a rank that only looks on and says nothing. Rank 0 of the job leaves `case_name` in
    /// the file "case" of $SHARDLINGS_RUN_DIR, for who finds the job dead.
    void start(const std::string& case_name, int world_rank, int group_rank, int group_size);
    void enter();  // the judged function
    void leave();  // it
    void stop();

  private:
    double seconds_;
};

}  // namespace shardlings::verify
