// What lesson 03's collectives take of virtual time and send, on clusters of several shapes, in one launch.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "lib/machine/comm/session.hpp"
#include "lib/machine/device/topology.hpp"

namespace shardlings {

/// Each of lesson 03's all-reduces and broadcasts (from rank 0, the chain in as many segments as are best)
/// over vectors of `bytes` bytes, fp32, on all devices of each topology. On rank 0 a row for each:
///   {"collective", "algorithm", "ranks", "nodes", "bytes", "seconds": of the slowest rank, "sent_bytes": of
///    all ranks together, "busiest_bytes": of the rank that sends most, "inter_node_bytes"}
/// On the others nothing. Every rank must call it. Error when a collective gives a wrong value.
nlohmann::json measure_collectives_virtually(const MpiSession& session,
                                             const std::vector<Topology>& topologies,
                                             const std::vector<std::int64_t>& bytes);

}  // namespace shardlings
