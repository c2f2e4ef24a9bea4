// What the supervisor says.
#pragma once

#include <string>

#include "lib/tools/watch/graph.hpp"

namespace shardlings::watch {

/// What each stuck rank waits in, where, the cycle or who has gone, and messages that nearly fit.
std::string deadlock_report(const Graph& graph);
/// The same in a few lines about one source file, "ring.cpp": what its calls wait for, and in which lines.
std::string brief_deadlock_report(const Graph& graph, const std::string& file);
/// Two ranks that called different collectives, or one with different roots, counts or types. Empty when the
/// records do not show it.
std::string mismatch_report(const Graph& graph, int rank, const Finding& finding);
/// A crash, an exit without MPI_Finalize, an MPI_Abort: signal, rank, stack. Empty for any other end.
std::string end_report(const Graph& graph, int rank);
/// Ranks that wait in MPI_Finalize for one that has failed and will not come, when nobody else goes on. Empty
/// when that is not so.
std::string finalize_report(const Graph& graph);
/// After the end: buffers changed in flight, and, when all ranks came to MPI_Finalize, messages that nobody
/// received and requests that were never completed.
std::string closing_report(const Graph& graph);

}  // namespace shardlings::watch
