// What a watched rank writes about itself, and the supervisor reads: one file per rank, of fixed size.
//
// Only the rank writes it (besides `released`), into memory mapped from the file. It starts as zeros, which
// say "nothing". The supervisor reads copies, which may be torn or wrong in any way: it checks every index
// and every count, and decides only on what has stayed the same for a while.
#pragma once

#include <cstdint>

#include "lib/tools/watch/calls.hpp"

namespace shardlings::watch {

inline constexpr std::uint64_t record_magic = 0x5348'5741'5443'4835;  // changes with the layout
inline constexpr const char* folder_variable = "SHARDLINGS_WATCH_DIR";
inline constexpr const char* synchronous_variable = "SHARDLINGS_WATCH_SYNCHRONOUS";
inline constexpr const char* checksums_variable = "SHARDLINGS_WATCH_CHECKSUMS";

inline constexpr std::uint32_t most_ranks = 1024;
inline constexpr std::uint32_t most_groups = 8;
inline constexpr std::uint32_t most_items = 256;
inline constexpr std::uint32_t most_pending = 4096;
inline constexpr std::uint32_t most_communicators = 256;
inline constexpr std::uint32_t communicator_attempts = 8;  // places, from id modulo the table on
inline constexpr std::uint32_t most_channels = 4096;
inline constexpr std::uint32_t most_modules = 96;
inline constexpr std::uint32_t most_frames = 48;
inline constexpr std::uint32_t most_findings = 16;
inline constexpr std::uint32_t kept_signatures = 16;
inline constexpr std::uint32_t longest_path = 240;
inline constexpr std::uint32_t longest_name = 48;

inline constexpr std::int32_t any = -1;               // source or tag
inline constexpr std::int32_t other_tags = -2;        // a channel's messages whose tags found no place
inline constexpr std::uint32_t blocking_send = 0;     // the pending operations that stand for
inline constexpr std::uint32_t blocking_receive = 1;  // the blocking call that is going on
inline constexpr std::uint32_t first_probe = 2;       // and for questions that are asked in a loop
inline constexpr std::uint32_t first_request = 10;

enum class Life : std::uint32_t { starting, running, finalizing, finalized, exited, aborted, crashed };

enum class Kind : std::uint32_t { none, send, receive, probe, collective };

/// A send, a receive, or a collective that has begun and not ended.
struct Pending {
    Kind kind;
    Call call;
    std::uint64_t communicator;
    std::int32_t peer;    // world rank, or `any`
    std::int32_t tag;     // or `any`
    std::uint64_t nth;    // a send: of its channel, from 1; a collective: of its communicator, from 1
    std::uint64_t order;  // when it was posted, counted over the rank's operations
    std::uint64_t site;   // return address of the call
    std::uint32_t active;
    std::uint32_t persistent;
};

/// What one call waits for: all, or any one, of some pending operations.
struct Group {
    Call call;
    std::uint32_t all;
    std::uint32_t first;  // in `items`
    std::uint32_t count;
    std::uint32_t unknown;  // it waits for other things too, or for more than there is place for
    std::uint32_t unused;
    std::uint64_t site;
};

/// Messages between this rank and `peer`, both ways.
struct Channel {
    std::uint64_t communicator;  // 0: a free place
    std::int32_t peer;           // world rank
    std::int32_t tag;
    std::uint64_t sent;      // counted before the send begins
    std::uint64_t received;  // counted after the receive has ended
};

/// What must be alike on all ranks of a collective.
struct Signature {
    std::uint64_t nth;  // of its communicator, from 1; written last
    Call call;
    std::int32_t root;    // rank in the communicator; `any` when there is none
    std::uint64_t bytes;  // 0: not comparable
    std::uint64_t type;   // a hash of a predefined type's name; 0: not comparable
    std::uint64_t site;
    std::uint64_t count;
    std::uint64_t sends[2];    // bytes to the ranks before and after this one, plus 1; 0: not comparable
    std::uint64_t expects[2];  // from them
    std::uint32_t reduction;   // in `reductions`; 0: none, or not comparable
    std::uint32_t unused;
    char type_name[32];
};

inline constexpr const char* reductions[] = {"",         "MPI_SUM",    "MPI_PROD",  "MPI_MAX", "MPI_MIN",
                                             "MPI_LAND", "MPI_BAND",   "MPI_LOR",   "MPI_BOR", "MPI_LXOR",
                                             "MPI_BXOR", "MPI_MAXLOC", "MPI_MINLOC"};

struct CommunicatorRecord {
    std::uint64_t id;  // the same on all its members; 0: a free place
    std::uint32_t size;
    std::uint32_t freed;                        // only kept for others who are still in a collective on it
    std::uint64_t collectives;                  // begun on it
    std::uint64_t members[most_ranks / 64];     // world ranks, one bit each
    std::uint64_t neighbours[most_ranks / 64];  // those that this rank gets from, in a topology
    char name[longest_name];
    Signature signatures[kept_signatures];  // of collective n at n modulo this
};

/// A file mapped into the rank, so that addresses can be told as lines after it has gone.
struct Module {
    std::uint64_t bias;
    char path[longest_path];
};

enum class Fault : std::uint32_t { none, mismatch, buffer_changed, buffer_freed };

struct Finding {
    Fault fault;
    Call call;
    std::uint64_t site;
    std::uint64_t communicator;
    std::uint64_t nth;
    std::int32_t other;  // world rank
    std::int32_t tag;    // of a mismatch: 0 when `other` is the rank before, 1 when it is the one after
};

struct Header {
    std::uint64_t magic;
    std::int32_t pid;
    std::int32_t rank;
    std::int32_t world_size;
    Life life;
    std::int32_t code;          // of exit or abort, or the signal of a crash
    std::uint32_t unwatched;    // more than one thread may be in MPI: nothing is said about waits
    std::uint64_t sequence;     // changes whenever the rank gets anywhere
    std::uint64_t site;         // of exit, abort, Finalize
    std::uint32_t group_count;  // 0: it computes
    std::uint32_t polling;      // the groups are what it tests in turn, in vain
    std::uint64_t polls;        // in vain, since the sequence changed
    std::uint64_t timed_polls;  // of these, those before which
    std::uint64_t outside;      // so many nanoseconds of processor time went into its own code
    std::uint32_t lost;         // messages that found no place in `channels` at all
    std::uint32_t pending_end;  // no pending operation has been at or after this place
    std::uint32_t module_count;
    std::uint32_t frame_count;   // written last; innermost first
    std::uint32_t stack_signal;  // that makes it write its stack; 0: none
    std::uint32_t finding_count;
    std::uint32_t synchronous;
    std::uint32_t reads_clock;  // between two of the polls: the loop may end at a time
    std::uint32_t forgotten;    // communicators have given their places to later ones, or found none
    std::uint32_t released;     // by the supervisor: a crashed rank may go on and die
    std::uint64_t frames[most_frames];
    Group groups[most_groups];
    std::uint16_t items[most_items];
    Finding findings[most_findings];
};

struct Record {
    Header header;
    Pending pending[most_pending];
    CommunicatorRecord communicators[most_communicators];
    Channel channels[most_channels];
    Module modules[most_modules];
};

}  // namespace shardlings::watch
