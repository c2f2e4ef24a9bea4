// The life of one rank's process: MPI's start and end, and how a failing rank ends the whole job.
#pragma once

#include <functional>

namespace shardlings {

/// MPI_Init and MPI_Finalize as one scope. One per process.
class MpiSession {
  public:
    MpiSession(int& argc, char**& argv);
    ~MpiSession();
    MpiSession(const MpiSession&) = delete;
    MpiSession& operator=(const MpiSession&) = delete;

    int rank() const { return rank_; }
    int size() const { return size_; }
    /// Returns when every rank of the job has called it.
    void wait_for_all() const;

  private:
    int rank_ = 0;
    int size_ = 1;
};

/// Runs `body` between MPI_Init and MPI_Finalize and returns its exit code. When it throws on any rank, one
/// rank prints one message and the whole job ends at once with exit code 1; the other ranks, which may be
/// waiting for it, are stopped.
int run_rank(int argc, char** argv, const std::function<int(MpiSession&)>& body);

}  // namespace shardlings
