// Ranks, tags, communicators and operations in words.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "lib/tools/watch/graph.hpp"

namespace shardlings::watch {

/// "rank 3", "ranks 1, 3"; the first few when there are many.
std::string list_of(const std::set<int>& ranks);
/// "tag 7", "any tag".
std::string tag_text(std::int32_t tag);
/// "1st", "2nd".
std::string ordinal(std::uint64_t n);
/// "MPI_COMM_WORLD", or its members and what made it.
std::string name_of(const Graph& graph, int rank, std::uint64_t communicator);
/// ", on …"; empty for MPI_COMM_WORLD.
std::string on_communicator(const Graph& graph, int rank, std::uint64_t communicator);
/// "from 3, tag 7", "to 1, tag 0", what a collective waits for.
std::string text_of(const Graph& graph, int rank, const Pending& operation);
/// Lines "  rank 2 has called MPI_Finalize" of the ranks that stuck ones wait for in vain.
std::string gone_text(const Graph& graph);
/// "cycle: 0 -> 1 -> 0"; empty when there is none.
std::string cycle_text(const Graph& graph);
/// Lines "at …" below a line of a report.
std::string indented(const std::vector<std::string>& places);

}  // namespace shardlings::watch
