// The records of the ranks of a run, as they come, change and stay the same.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lib/tools/watch/closings.hpp"
#include "lib/tools/watch/graph.hpp"
#include "lib/tools/watch/processes.hpp"

namespace shardlings::watch {

using Clock = std::chrono::steady_clock;

/// One rank's file and what has been seen in it.
struct Observed {
    std::string path;
    ino_t file = 0;
    std::unique_ptr<Record> record;  // the header as of the last look; the rest as of the last load
    int process = -1;                // its pidfd
    bool ended = false;
    Clock::time_point since;  // the sequence has been the same
    Running then;             // how much it had run when that began
    std::uint64_t polls_then = 0;
    std::size_t ends_before = 0;  // how many ranks had been seen to end before it ended
};

/// The ranks of one MPI_COMM_WORLD, by number.
using Job = std::map<int, Observed>;

/// Reads the records in `folder` by copying, so that a file that is cut short gives a short copy and no
/// signal.
class Observer {
  public:
    /// A wait becomes suspicious after `period` seconds.
    Observer(std::string folder, double period);
    ~Observer();
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;

    /// Reads all headers.
    void look();
    /// Reads everything of a job; the views of its ranks as they are then.
    std::vector<RankView> load(Job& job);
    /// Something worth a `load`: the set of still and of ended ranks is not the one of the last call.
    bool has_news(const std::string& name);
    /// The next call of `has_news` looks anew.
    void expect_news(const std::string& name) { last_news_.erase(name); }
    /// Ranks wait that have not done so for long enough to be still.
    bool has_beginning_waits(const Job& job) const;
    std::map<std::string, Job>& jobs() { return jobs_; }
    /// The first rank that ended without MPI_Finalize, of a job; -1 when none has.
    int first_ended(const std::string& name) const;
    bool has_living_ranks() const;
    /// The exit code of a run whose launcher has none: of the first rank that failed, else 1, since that of a
    /// rank after MPI_Finalize is not known.
    int code_of_ranks() const;
    /// Takes up the shared memory of the run's processes as they are now.
    void note_shared_memory();
    const std::set<std::string>& shared_memory() const { return shared_memory_; }

  private:
    void meet(const std::string& path, const std::string& job, int rank);
    void refresh(Observed& rank);
    bool is_still(const Observed& rank) const;
    void take_ends();
    void find_first_ended(const std::string& name, const Job& job);

    std::string folder_;
    std::chrono::duration<double> period_;
    std::map<std::string, Job> jobs_;
    std::map<std::string, std::string> last_news_;
    std::map<std::string, int> first_ended_;
    std::map<int, std::pair<std::string, int>> by_process_;  // pidfd: job and rank
    std::set<std::string> shared_memory_;
    Closings closings_;
    std::size_t ends_seen_ = 0;
    int ends_;  // an epoll instance of the ranks' pidfds: it keeps the order in which they end
};

}  // namespace shardlings::watch
