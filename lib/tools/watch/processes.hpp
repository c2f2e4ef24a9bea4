// The processes of a run, and what they leave behind.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace shardlings::watch {

/// Processes that this one, their sub-reaper, is an ancestor of.
std::vector<pid_t> descendants();
/// Children of this one other than `launcher`: their parents have ended. And all below them.
std::vector<pid_t> orphans(pid_t launcher);
/// `launcher` is an mpirun that has no process below it, and there is no other of this run.
bool is_launcher_alone(pid_t launcher);
/// Kills all descendants, and those that they start meanwhile, and waits until they have gone (at most some
/// seconds).
void kill_descendants();

/// How much a process has run: its time on a processor, and how often it was put on one.
struct Running {
    bool known = false;
    std::uint64_t nanoseconds = 0;
    std::uint64_t times = 0;
};
Running running_of(pid_t process);
/// False for one that has gone, or is about to.
bool has_memory(pid_t process);

/// Shared-memory files of MPI's, in /dev/shm or where it was told to have them, that a process has mapped.
std::set<std::string> shared_memory_of(pid_t process);
/// Removes them, and those of the other ranks of their jobs; then what mpirun, process `launcher`, keeps in
/// the temporary folder. There is nothing to remove unless it was killed.
void remove_leftovers(const std::set<std::string>& shared_memory, pid_t launcher);

}  // namespace shardlings::watch
