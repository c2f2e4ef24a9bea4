// What is said of a deadlock to somebody who has written one file of the program.
#include <fmt/core.h>

#include <algorithm>

#include "lib/tools/watch/phrases.hpp"
#include "lib/tools/watch/places.hpp"
#include "lib/tools/watch/report.hpp"

namespace shardlings::watch {

namespace {

constexpr std::size_t ranks_shown = 4;

std::string awaited_text(const Graph& graph, int rank, const Pending& operation)
{
    if (operation.kind == Kind::collective) {
        const auto others = graph.awaited(rank, operation);
        return fmt::format("for {} to come to {}", list_of(others), name_of(operation.call));
    }
    const std::string peer = operation.peer == any ? "any rank" : std::to_string(operation.peer);
    const std::string text =
        operation.kind == Kind::send
            ? fmt::format("for {} to receive", peer == "any rank" ? peer : "rank " + peer)
            : "for a message from " + peer;
    return operation.tag == 0 ? text : text + ", " + tag_text(operation.tag);
}

/// "for rank 1 to receive and for a message from 2, tag 7"
std::string wait_text(const Graph& graph, int rank)
{
    const bool all = graph.rank(rank).record->header.groups[0].all != 0;
    std::string text;
    std::size_t shown = 0;
    for (const Pending* operation : graph.missing(rank)) {
        if (shown++ == 2) return text + ", …";
        text += (text.empty() ? "" : all ? " and " : " or ") + awaited_text(graph, rank, *operation);
    }
    return text;
}

}  // namespace

std::string brief_deadlock_report(const Graph& graph, const std::string& file)
{
    const auto stuck = graph.stuck();
    std::vector<Stack> stacks;
    for (const int rank : stuck) {
        const Record& record = *graph.rank(rank).record;
        stacks.push_back(stack_of(record, record.header.groups[0].site));
    }
    const auto places = places_of(stacks, most_frames);
    std::vector<std::string> inside;
    std::set<int> outside;
    for (std::size_t i = 0; i < stuck.size(); ++i) {
        const auto line = std::ranges::find_if(places[i], [&](const std::string& place) {
            return place.find("/" + file + ":") != std::string::npos || place.starts_with(file + ":");
        });
        if (line == places[i].end())
            outside.insert(stuck[i]);
        else
            inside.push_back(
                fmt::format("  rank {} waits {}, at {}\n", stuck[i], wait_text(graph, stuck[i]), *line));
    }
    const std::string cycle = cycle_text(graph);
    std::string text = fmt::format("watch: deadlock: {} of {} ranks can never go on{}{}\n", stuck.size(),
                                   graph.size(), cycle.empty() ? "" : "; ", cycle);
    for (std::size_t i = 0; i < std::min(inside.size(), ranks_shown); ++i) text += inside[i];
    if (inside.size() > ranks_shown) text += fmt::format("  … and {} more\n", inside.size() - ranks_shown);
    if (!outside.empty())
        text +=
            fmt::format("  {} {} not in {}\n", list_of(outside), outside.size() == 1 ? "is" : "are", file);
    return text + gone_text(graph);
}

}  // namespace shardlings::watch
