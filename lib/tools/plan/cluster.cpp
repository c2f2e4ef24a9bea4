#include "lib/tools/plan/cluster.hpp"

#include <algorithm>

#include "lib/machine/base/counted.hpp"
#include "lib/machine/base/error.hpp"

namespace shardlings::plan {

void Cluster::check_sizes() const
{
    check(devices >= 1 && devices <= 10'000'000, "{}: expected 1 to 10000000", counted(devices, "device"));
    check(devices_per_node >= 1, "{} in a node: expected 1 or more", counted(devices_per_node, "device"));
    check(devices <= devices_per_node || devices % devices_per_node == 0,
          "{} devices do not fill nodes of {}: choose a multiple of it, or another --devices-per-node",
          devices, devices_per_node);
    for (const auto& [what, value] : {std::pair{"memory", memory},
                                      {"FLOP/s", flops},
                                      {"memory's bandwidth", memory_bandwidth},
                                      {"bandwidth in a node", intra.bandwidth},
                                      {"bandwidth between nodes", inter.bandwidth}})
        check(value > 0.0 && value < 1e30, "a device's {} is {}: expected more than 0", what, value);
    for (const auto& [what, value] : {std::pair{"FLOP/s", flops_achieved},
                                      {"memory's bandwidth", memory_achieved},
                                      {"links' bandwidth", link_achieved}})
        check(value > 0.0 && value <= 1.0, "the part of the {} that is achieved is {}: expected 0 to 1", what,
              value);
}

Ring ring_of(const Cluster& cluster, std::int64_t size, std::int64_t stride)
{
    const double inside = cluster.intra.bandwidth * cluster.link_achieved;
    if (size * stride <= cluster.devices_per_node)
        return {static_cast<double>(size), inside, cluster.intra.latency};
    const auto in_node = static_cast<double>(std::max<std::int64_t>(cluster.devices_per_node / stride, 1));
    const double outside = cluster.inter.bandwidth * cluster.link_achieved * in_node;
    return {static_cast<double>(size), in_node > 1.0 ? std::min(inside, outside) : outside,
            cluster.inter.latency};
}

Cluster named_cluster(std::string_view name)
{
    // Latencies are the course's (lib/machine/device/README.md).
    Cluster cluster;
    cluster.name = name;
    cluster.flops_achieved = 0.70;
    cluster.memory_achieved = 0.90;
    cluster.link_achieved = 0.70;
    if (name == "a100-80g") {
        cluster.memory = 80e9;
        cluster.flops = 312e12;
        cluster.memory_bandwidth = 2039e9;
        cluster.intra = {2e-6, 300e9};
        cluster.inter = {5e-6, 25e9};
    } else if (name == "h100") {
        cluster.memory = 80e9;
        cluster.flops = 989.4e12;
        cluster.memory_bandwidth = 3350e9;
        cluster.intra = {2e-6, 450e9};
        cluster.inter = {5e-6, 50e9};
    } else if (name == "laptop") {
        // Measured, so nothing more is lost.
        cluster.flops_achieved = cluster.memory_achieved = cluster.link_achieved = 1.0;
        cluster.devices_per_node = 2;
        cluster.memory = 12e9;
        cluster.flops = 40e9;
        cluster.memory_bandwidth = 6e9;
        cluster.intra = cluster.inter = {16e-6, 3e9};
        cluster.dtype = "fp32";
    } else {
        throw Error(fmt::format("there is no cluster '{}': expected a100-80g, h100 or laptop", name));
    }
    cluster.devices = cluster.devices_per_node;
    return cluster;
}

}  // namespace shardlings::plan
