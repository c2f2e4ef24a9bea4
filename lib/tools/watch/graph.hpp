// Who waits for whom, and who can never go on.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "lib/tools/watch/record.hpp"

namespace shardlings::watch {

/// A rank as the supervisor sees it.
struct RankView {
    const Record* record = nullptr;  // null: it has left none (yet)
    bool ended = false;              // its process has
    bool still = false;              // it has been in the same wait for as long as it takes to suspect it
};

/// The wait-for graph of a job, from copies of the ranks' records that may be wrong in any way.
///
/// A rank may progress when it is not in a wait, when its wait is over (the message is on its way, the
/// receive is posted, everybody has come to the collective), or when a rank that may progress can end it:
///   a receive, a send       the peer may progress
///   any source              one of the others may progress
///   a collective            all ranks that have not come may progress (of neighbours: all of these)
///   all of several (AND)    each of them can end
///   one of several (OR)     one of them can end
/// The set is the smallest that holds these rules; who is outside it can never go on. What is not known
/// counts as "may progress".
class Graph {
  public:
    explicit Graph(std::vector<RankView> ranks);

    int size() const { return static_cast<int>(ranks_.size()); }
    const RankView& rank(int number) const { return ranks_[static_cast<std::size_t>(number)]; }
    bool may_progress(int rank) const { return progressing_[static_cast<std::size_t>(rank)]; }
    /// Ranks that wait and can never go on, in order.
    std::vector<int> stuck() const;
    /// It will send nothing any more: it has ended, or is at MPI_Finalize.
    bool is_gone(int rank) const;
    /// What a stuck rank's wait needs, as far as it cannot come.
    std::vector<const Pending*> missing(int rank) const;
    /// The ranks that `operation` of `rank` waits for.
    std::set<int> awaited(int rank, const Pending& operation) const;
    /// A shortest cycle among stuck ranks, its first rank again at the end; empty when there is none.
    std::vector<int> cycle() const;
    /// Messages sent and not received: with this tag, or with any. Nothing when it is not known.
    std::optional<std::int64_t> in_flight(std::uint64_t communicator, int from, int to,
                                          std::int32_t tag) const;
    /// The communicator's entry in the rank's record, or null.
    const CommunicatorRecord* communicator(int rank, std::uint64_t id) const;

  private:
    bool has(int rank) const { return rank >= 0 && rank < size() && this->rank(rank).record != nullptr; }
    bool waits(int rank) const;
    bool can_end(int rank, const Pending& operation) const;
    bool can_end(int rank, const Group& group) const;
    bool is_over(int rank, const Pending& operation) const;
    bool receive_is_over(int rank, const Pending& receive) const;
    bool send_is_over(int rank, const Pending& send) const;
    std::optional<std::int64_t> arriving(int rank, const Pending& pattern) const;
    std::vector<const Pending*> operations(int rank, const Group& group) const;
    std::vector<const Pending*> posted_receives(int rank) const;
    bool has_come(int rank, const Pending& collective) const;

    std::vector<RankView> ranks_;
    std::vector<std::vector<Channel>> channels_;
    std::vector<bool> progressing_;
};

/// The members of a communicator that are ranks of a job of `size`.
std::vector<int> members_of(const CommunicatorRecord& communicator, int size);
/// Those of them that `call` waits for on it.
std::vector<int> partners_of(const CommunicatorRecord& communicator, Call call, int size);

}  // namespace shardlings::watch
