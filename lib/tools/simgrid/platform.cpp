#include "lib/tools/simgrid/platform.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace shardlings {

namespace {

constexpr const char* head =
    "<?xml version='1.0'?>\n"
    "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
    "<platform version=\"4.1\">\n";

std::string one_node(const Topology& topology, int ranks)
{
    return fmt::format(
        "<cluster id=\"node-0\" prefix=\"device-\" suffix=\"\" radical=\"0-{}\" speed=\"{}f\" bw=\"{}Bps\" "
        "lat=\"{}s\" sharing_policy=\"SPLITDUPLEX\"/>\n",
        ranks - 1, topology.flops, topology.intra.bandwidth, topology.intra.latency / 2.0);
}

std::string link(const std::string& id, const Link& like)
{
    return fmt::format("<link id=\"{}\" bandwidth=\"{}Bps\" latency=\"{}s\"/>\n", id, like.bandwidth,
                       like.latency);
}

/// For what takes no time: SimGrid wants a link on every route.
std::string free_link(const std::string& id)
{
    return fmt::format("<link id=\"{}\" bandwidth=\"1e18Bps\" latency=\"0s\" sharing_policy=\"FATPIPE\"/>\n",
                       id);
}

std::string route(const std::string& from, const std::string& to, const std::string& over)
{
    return fmt::format("<route src=\"{}\" dst=\"{}\" symmetrical=\"NO\"><link_ctn id=\"{}\"/></route>\n",
                       from, to, over);
}

std::string node(const Topology& topology, int number, int ranks)
{
    const int first = number * topology.devices_per_node;
    const int last = std::min(ranks, first + topology.devices_per_node);
    const std::string gate = fmt::format("gate-{}", number);
    std::string text = fmt::format("<zone id=\"node-{}\" routing=\"Full\">\n", number);
    for (int rank = first; rank < last; ++rank)
        text += fmt::format("<host id=\"{}\" speed=\"{}f\"/>\n", simgrid_host(rank), topology.flops);
    text += fmt::format("<router id=\"{}\"/>\n", gate);
    for (int rank = first; rank < last; ++rank)
        text += link(fmt::format("out-{}", rank), topology.intra) +
                link(fmt::format("nic-{}", rank), topology.inter);
    text += free_link("in-" + gate);
    for (int from = first; from < last; ++from) {
        for (int to = first; to < last; ++to)
            if (to != from) text += route(simgrid_host(from), simgrid_host(to), fmt::format("out-{}", from));
        text += route(simgrid_host(from), gate, fmt::format("nic-{}", from)) +
                route(gate, simgrid_host(from), "in-" + gate);
    }
    return text + "</zone>\n";
}

std::string several_nodes(const Topology& topology, int ranks)
{
    const int nodes = topology.node_of(ranks - 1) + 1;
    std::string text =
        "<zone id=\"cluster\" routing=\"Floyd\">\n"
        "<zone id=\"switches\" routing=\"Full\"><router id=\"switch\"/></zone>\n";
    for (int number = 0; number < nodes; ++number) text += node(topology, number, ranks);
    text += free_link("free");
    for (int number = 0; number < nodes; ++number)
        text += fmt::format(
            "<zoneRoute src=\"node-{0}\" dst=\"switches\" gw_src=\"gate-{0}\" gw_dst=\"switch\">"
            "<link_ctn id=\"free\"/></zoneRoute>\n",
            number);
    return text + "</zone>\n";
}

}  // namespace

std::string simgrid_host(int rank)
{
    return fmt::format("device-{}", rank);
}

std::string simgrid_platform(const Topology& topology, int ranks)
{
    const bool one = topology.node_of(ranks - 1) == 0;
    return head + (one ? one_node(topology, ranks) : several_nodes(topology, ranks)) + "</platform>\n";
}

}  // namespace shardlings
