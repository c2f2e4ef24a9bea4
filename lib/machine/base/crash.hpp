// What a crashing rank says before it dies.
#pragma once

namespace shardlings {

/// From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT print the rank, the signal and the stack with
/// source lines, and then end the process with that signal.
void report_crashes();

}  // namespace shardlings
