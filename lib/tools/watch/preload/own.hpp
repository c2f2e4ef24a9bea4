// This rank's record, and how the wrappers write it. There is one per process, so it is a global.
#pragma once

#include <cstdint>
#include <span>

#include "lib/tools/watch/preload/mpi.hpp"
#include "lib/tools/watch/record.hpp"

namespace shardlings::watch {

struct Own {
    Record* record = nullptr;  // null: this process is not watched
    int depth = 0;             // of wrappers: what MPI calls of its own is none of the program's doing
    bool synchronous = false;
    bool checksums = false;
    bool orphans = false;          // receives go on whose requests the program has freed
    std::uint64_t operations = 0;  // posted so far
    char folder[longest_path] = {};
    char job[longest_path] = {};
};

extern Own own;

inline bool watching()
{
    return own.record != nullptr && own.depth == 0;
}

/// Makes the record of this rank. Without a folder in the environment, or when another library than the one
/// it was built for is in the program, nothing is watched.
void open_record(int rank, int size, bool many_threads);
/// The record of another rank of the job, to read; null when it is not there (yet).
const Record* map_record(int rank);
/// Writes which files are mapped where.
void note_modules();

template <class T>
void publish(T& place, T value)
{
    __atomic_store_n(&place, value, __ATOMIC_RELEASE);
}

/// Completes receives whose requests the program has freed, as far as their messages have come.
void end_orphans();

/// The rank got somewhere.
inline void progress()
{
    Header& header = own.record->header;
    publish(header.group_count, 0U);
    header.polling = 0;
    header.polls = 0;
    publish(header.sequence, header.sequence + 1);
    if (own.orphans) end_orphans();
}

/// While this is there, the rank is in a blocking call that waits for the pending operations `slots`: for all
/// of them, or for one.
class Waiting {
  public:
    Waiting(Call call, std::uint64_t site, bool all, std::span<const int> slots);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
};

/// A call that asks and does not wait. Asking in vain again and again is a wait.
class Poll {
  public:
    Poll(Call call, std::uint64_t site);
    ~Poll() { --own.depth; }
    Poll(const Poll&) = delete;
    Poll& operator=(const Poll&) = delete;
    /// Asked for all of `slots`, or for one of them, in vain.
    void failed(bool all, std::span<const int> slots);

  private:
    Call call_;
    std::uint64_t site_;
    std::uint64_t entered_ = 0;
};

/// Counts a message to, or from, a world rank. The number of messages on its channel, 0 when that is not
/// known.
std::uint64_t count_sent(std::uint64_t communicator, int peer, int tag);
std::uint64_t count_received(std::uint64_t communicator, int peer, int tag);

/// What became of a message is not known: a call failed. Counts say nothing from now on.
inline void not_known()
{
    own.record->header.lost = 1;
}

void add_finding(const Finding& finding);

}  // namespace shardlings::watch
