// The counters of a rank, reckoned from what its driver told while it ran, against those that it reports.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lib/machine/device/device.hpp"
#include "lib/tools/grade/protocol.hpp"

namespace grade {

using nlohmann::json;

/// A message as one of its two sides tells it.
struct Told {
    int peer = 0;
    std::int64_t bytes = 0;
    double arrival = 0.0;
    auto operator<=>(const Told&) const = default;
};

/// One case on one rank. Frames are taken as they come; a rank that writes to its counters, its clock or
/// these frames leaves a contradiction, of which the first is kept.
class Ledger {
  public:
    Ledger(int rank, const shardlings::Topology& topology) : rank_(rank), topology_(topology) {}

    void take(const Frame& frame);
    /// Keeps a contradiction that was seen otherwise, if it is the first: "its clock shows …".
    void refuse(const std::string& what);
    /// Empty when `measured`, as the driver reports it, is what was told; else the contradiction.
    std::string contradiction(const json& measured) const;
    std::int64_t heap_peak() const { return heap_peak_; }
    /// What should be reported, once the driver has said that the case was measured.
    const json& counters() const { return counters_; }
    const std::vector<Told>& sent() const { return sent_; }
    const std::vector<Told>& received() const { return received_; }

  private:
    void begin_counting(const Frame& frame);
    void take_memory(const Frame& frame);
    void take_sent(const Frame& frame);
    void move_clock(const Frame& frame, double at_least);

    int rank_;
    shardlings::Topology topology_;
    std::string contradiction_;
    std::array<double, shardlings::stream_count> now_{};
    std::array<double, 2> link_free_{};  // when the link inside the node, and out of it, can carry more
    shardlings::MemoryUse memory_;
    shardlings::Traffic traffic_;
    double flops_ = 0.0;
    double begin_flops_ = 0.0;
    double begin_time_ = 0.0;
    std::uint64_t begin_memory_ = 0;
    std::int64_t heap_peak_ = 0;
    bool measured_ = false;
    json counters_;
    std::vector<Told> sent_;
    std::vector<Told> received_;
};

/// Empty when every message that a rank received is one that its peer sent it; else who received what
/// nobody had sent. `ledgers` by rank.
std::string unsent_message(const std::vector<Ledger>& ledgers);

}  // namespace grade
