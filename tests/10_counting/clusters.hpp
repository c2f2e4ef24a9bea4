// Clusters and times of a case, on the judging side.
#pragma once

#include "lib/machine/device/topology.hpp"
#include "tests/10_counting/jobs.hpp"

namespace counting_test {

inline json inputs_of(const Topology& topology)
{
    return {{"nodes", topology.nodes},
            {"devices_per_node", topology.devices_per_node},
            {"intra_latency", topology.intra.latency},
            {"intra_bandwidth", topology.intra.bandwidth},
            {"inter_latency", topology.inter.latency},
            {"inter_bandwidth", topology.inter.bandwidth},
            {"flops", topology.flops}};
}

inline json inputs_of(const Job& job, const Topology& topology)
{
    json inputs = inputs_of(job);
    inputs.update(inputs_of(topology));
    return inputs;
}

inline std::string describe(const Topology& topology)
{
    return fmt::format("{} nodes of {} devices", topology.nodes, topology.devices_per_node);
}

/// Enough devices for the job; links and devices so that passes, latencies and bytes all take some of the
/// time.
inline Topology random_topology(const Job& job, Dice& dice)
{
    Topology topology;
    topology.devices_per_node = static_cast<int>(dice.roll(1, 12));
    topology.nodes = (job.layout.world_size() + topology.devices_per_node - 1) / topology.devices_per_node;
    topology.intra = {1e-6 * static_cast<double>(dice.roll(1, 9)),
                      1e9 * static_cast<double>(dice.roll(1, 9))};
    topology.inter = {1e-5 * static_cast<double>(dice.roll(1, 9)),
                      1e8 * static_cast<double>(dice.roll(1, 9))};
    topology.flops = 1e9 * static_cast<double>(dice.roll(1, 30));
    return topology;
}

/// Sums and products of fewer than 2000 positive numbers, each rounded by half an epsilon; of a difference,
/// as much of what it is a difference of.
constexpr double rounding = 1000 * std::numeric_limits<double>::epsilon();

inline NamedCase seconds_case(const std::string& name, const std::string& operation, const json& inputs,
                              const std::string& what, double expected)
{
    return {name, one_rank(operation, inputs), [=](const RankResult& result) {
                return std::vector<std::string>{compare_number(
                    what, result.outputs.at("number").get<double>(), expected, {rounding, 0.0})};
            }};
}

/// Compares `names.size()` numbers under the output `output`, which are parts of `whole`.
inline std::vector<std::string> compare_parts(const RankResult& result, const std::string& output,
                                              const std::vector<std::string>& names,
                                              const std::vector<double>& expected)
{
    const auto got = result.outputs.at(output).get<std::vector<double>>();
    double whole = 0.0;
    for (const double part : expected) whole += std::abs(part);
    std::vector<std::string> messages;
    for (std::size_t i = 0; i < names.size(); ++i)
        messages.push_back(
            compare_number(output + ", " + names[i], got.at(i), expected[i], {rounding, rounding * whole}));
    return messages;
}

}  // namespace counting_test
