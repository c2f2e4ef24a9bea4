// Which rank of a job ended first.
#pragma once

#include <set>
#include <string>

namespace shardlings {

/// A rank writes its process id, and on a second line what it is, to `run_folder`/rank-N when it starts.
/// mpirun ends all ranks when one was killed, within milliseconds; the kernel's list of ended processes keeps
/// their order.
class RankWatch {
  public:
    explicit RankWatch(std::string run_folder);
    ~RankWatch();
    RankWatch(const RankWatch&) = delete;
    RankWatch& operator=(const RankWatch&) = delete;

    /// Watches the ranks that have started since the last call.
    void look();
    /// "rank 3 (stage 3 of 4) was ended by signal 9 (Killed)"; "a rank …" when none had left a note.
    std::string told(int signal) const;

  private:
    std::string run_folder_;
    int ended_;                // an epoll instance of the ranks' pidfds
    std::set<int> watched_;    // ranks
    std::set<int> processes_;  // their pidfds
};

}  // namespace shardlings
