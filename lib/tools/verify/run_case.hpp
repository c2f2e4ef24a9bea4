// Runs one case on the ranks of the job and brings together, on rank 0, what came out.
#pragma once

#include <memory>
#include <vector>

#include "lib/tools/verify/stuck.hpp"
#include "lib/tools/verify/values.hpp"

namespace shardlings::verify {

using Function = std::function<void(Comm&, Buffer, int)>;

/// What one rank of a case saw besides the values.
struct Observed {
    std::uint64_t messages;
    std::uint64_t bytes;       // sent
    std::uint64_t peak;        // bytes of device memory while the function ran
    std::uint64_t kept;        // bytes of device memory still held when it had returned
    double seconds;            // of virtual time
    std::int64_t before;       // up to how many elements before the buffer were written
    std::int64_t behind;       // and how many behind it
    std::int64_t other_again;  // the first element with other bits in a second run on the same input, or -1
};

struct RankResult {
    Observed observed;
    std::vector<std::byte> values;
};

/// The ranks that a case runs on, with clocks at 0. Every rank of the job must make it.
class Group {
  public:
    Group(const Case& one, int world_rank, int world_size);
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    Device& device() { return device_; }
    Comm& comm() { return comm_; }

  private:
    Device device_;
    Comm world_;
    Comm comm_;
};

/// The job's ranks, their way of bringing results together, which nobody counts, and the function that is
/// judged.
class Runner {
  public:
    Runner(Collective kind, Function function, int rank, int size, double case_seconds);

    /// Every rank of the job must call it. The results in the order of the group's ranks on rank 0, nothing
    /// elsewhere. Error naming the case when the function throws; it is left in the file "error" of
    /// $SHARDLINGS_RUN_DIR, too.
    std::vector<RankResult> run(const Case& one, Group& group);
    Collective kind() const { return kind_; }
    int rank() const { return judges_.rank(); }
    int size() const { return judges_.size(); }
    /// Rank 0's verdict on every rank.
    bool agree(bool right);

  private:
    RankResult run_member(const Case& one, int rank, Group& group);
    void call(const Case& one, int rank, Comm& comm, Buffer values);
    std::vector<RankResult> gather(const Case& one, const RankResult& own);

    Collective kind_;
    Function function_;
    Device device_;
    Comm judges_;
    StuckWatch watch_;
};

}  // namespace shardlings::verify
