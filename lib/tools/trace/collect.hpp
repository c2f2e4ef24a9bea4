// The records of all ranks, brought together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/machine/comm/comm.hpp"
#include "lib/tools/trace/trace.hpp"

namespace shardlings {

/// The bytes of every rank, by rank, on rank 0 of `comm`, and nothing on the others. Every rank must call it.
std::vector<std::vector<std::uint8_t>> gather_bytes(Comm& comm, std::span<const std::uint8_t> own);

/// Every rank's record by rank, of which `own` is this one's: on rank 0 of `comm`, and nothing on the
/// others. Every rank must call it. Its own messages are in no record, but they do count as traffic and take
/// virtual time: call it last.
std::vector<RankTrace> collect_traces(Comm& comm, const RankTrace& own);
/// The same of all that is recorded when this is called.
std::vector<RankTrace> collect_traces(Comm& comm);

}  // namespace shardlings
