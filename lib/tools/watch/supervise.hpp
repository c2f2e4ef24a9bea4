// Runs an MPI program under watch.
#pragma once

#include <string>
#include <vector>

#include "lib/tools/launch/launch.hpp"

namespace shardlings::watch {

struct Options {
    double period = 0.5;          // seconds after which a wait is looked into
    bool synchronous = false;     // standard sends end only when their receives have begun
    bool checksums = true;        // of the buffers of operations that have begun and not ended
    bool only_deadlocks = false;  // and collectives that do not fit; not how ranks end or what is left undone
    bool leave_nothing = true;    // false: whoever started this ends and removes what a run leaves
    std::string about;            // a source file, "ring.cpp": a deadlock is told in a few lines about it
    std::string library;          // the preloaded one; empty: libmpiwatch.so beside this program
};

/// Exit codes of a run that was ended because of what was seen.
inline constexpr int deadlock_code = 86;
inline constexpr int mismatch_code = 87;

/// Runs `command`, mpirun or a program that starts it, with this process's input and output, and says on
/// standard error what it sees. Returns one of the codes above or the command's own, 128 + the signal when
/// one ended it. With `leave_nothing`, no process that it has started is left, nor what MPI keeps in shared
/// memory. Error when there is no library.
int supervise(const Command& command, const Environment& environment, const Options& options);

}  // namespace shardlings::watch
