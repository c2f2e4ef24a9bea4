// The simulated cluster: nodes of devices, the links between them, and how fast a device computes.
#pragma once

#include <string_view>

namespace shardlings {

/// A message of b bytes takes latency + b / bandwidth seconds (alpha + b * beta).
struct Link {
    double latency;    // alpha, seconds
    double bandwidth;  // 1 / beta, bytes per second

    double seconds(double bytes) const { return latency + bytes / bandwidth; }
    bool operator==(const Link&) const = default;
};

/// Rank r sits on node r / devices_per_node. Defaults and their sources: lib/machine/device/README.md.
struct Topology {
    int nodes = 1;
    int devices_per_node = 1;
    Link intra{2e-6, 300e9};  // inside a node: NVLink-like
    Link inter{5e-6, 25e9};   // between nodes: InfiniBand-like
    double flops = 312e12;    // per device and second: A100-like, 16-bit tensor cores

    int devices() const { return nodes * devices_per_node; }
    int node_of(int rank) const { return rank / devices_per_node; }
    const Link& link(int rank_a, int rank_b) const
    {
        return node_of(rank_a) == node_of(rank_b) ? intra : inter;
    }

    bool operator==(const Topology&) const = default;
};

/// "4x8": 4 nodes of 8 devices, with the default links. Error when it is not two positive numbers.
Topology parse_topology(std::string_view text);

}  // namespace shardlings
