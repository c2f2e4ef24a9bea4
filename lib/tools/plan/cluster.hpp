// The machine that a run is planned for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/machine/device/topology.hpp"

namespace shardlings::plan {

/// What is published of a device and its links, and the parts of it that a run achieves. The README names the
/// source of each number.
struct Cluster {
    std::string name;
    std::int64_t devices = 1;
    std::int64_t devices_per_node = 8;
    double memory = 0.0;            // bytes of a device
    double flops = 0.0;             // FLOP/s of its matrix products at most
    double flops_achieved = 0.0;    // part of them
    double memory_bandwidth = 0.0;  // bytes/s of its memory at most
    double memory_achieved = 0.0;   // part of them
    Link intra{};                   // of a device to its neighbours in the node
    Link inter{};                   // of a device out of its node
    double link_achieved = 0.0;     // part of both bandwidths
    std::string dtype = "bf16";     // of parameters and activations, unless a run says another

    double product_speed() const { return flops * flops_achieved; }
    double memory_speed() const { return memory_bandwidth * memory_achieved; }
    /// Error for what is not positive, and a number of devices that does not fill its nodes.
    void check_sizes() const;
};

/// A ring of neighbours, all of which send at once.
struct Ring {
    double size;       // p
    double bandwidth;  // bytes/s
    double latency;    // of a message

    /// Seconds until each of p has all that they had together, `bytes` of it, or its part of their sum:
    /// (p − 1) messages of bytes / p.
    double gather(double bytes) const
    {
        return size > 1.0 ? (size - 1.0) * (latency + bytes / size / bandwidth) : 0.0;
    }
    double all_reduce(double bytes) const { return 2.0 * gather(bytes); }
};

/// The group of `size` ranks that are `stride` apart. It stays in a node if size · stride does; else it
/// leaves every node by the links of all its members there, but no faster than they talk inside.
Ring ring_of(const Cluster& cluster, std::int64_t size, std::int64_t stride);

/// a100-80g, h100 or laptop, of one node. Error naming them for others.
Cluster named_cluster(std::string_view name);

}  // namespace shardlings::plan
