#include "lib/tools/watch/phrases.hpp"

#include <fmt/core.h>
#include <string.h>

#include <string_view>

namespace shardlings::watch {

namespace {

bool is_world(const CommunicatorRecord& entry)
{
    return std::string_view(entry.name, strnlen(entry.name, longest_name)) == "MPI_COMM_WORLD";
}

std::string end_of(const Graph& graph, int rank)
{
    const RankView& view = graph.rank(rank);
    if (view.record == nullptr) return "has ended";
    const Life life = view.record->header.life;
    if (life == Life::finalizing || life == Life::finalized) return "has called MPI_Finalize";
    if (life == Life::exited) return "has left by exit() without MPI_Finalize";
    if (life == Life::crashed) return "has crashed";
    return "has ended without MPI_Finalize";
}

}  // namespace

std::string list_of(const std::set<int>& ranks)
{
    std::string text;
    std::size_t shown = 0;
    for (const int rank : ranks) {
        if (shown++ == 16) return text + ", …";
        text += fmt::format("{}{}", text.empty() ? "" : ", ", rank);
    }
    return (ranks.size() == 1 ? "rank " : "ranks ") + text;
}

std::string tag_text(std::int32_t tag)
{
    return tag == any ? "any tag" : fmt::format("tag {}", tag);
}

std::string ordinal(std::uint64_t n)
{
    const char* end = n % 100 / 10 == 1 ? "th"
                      : n % 10 == 1     ? "st"
                      : n % 10 == 2     ? "nd"
                      : n % 10 == 3     ? "rd"
                                        : "th";
    return fmt::format("{}{}", n, end);
}

std::string name_of(const Graph& graph, int rank, std::uint64_t id)
{
    const CommunicatorRecord* entry = graph.communicator(rank, id);
    for (int other = 0; other < graph.size() && entry == nullptr; ++other)
        entry = graph.communicator(other, id);
    if (entry == nullptr) return "a communicator";
    const std::string name(entry->name, strnlen(entry->name, longest_name));
    if (is_world(*entry)) return name;
    const auto members = members_of(*entry, graph.size());
    return fmt::format("the communicator of {} ({})", list_of({members.begin(), members.end()}), name);
}

std::string on_communicator(const Graph& graph, int rank, std::uint64_t id)
{
    const std::string name = name_of(graph, rank, id);
    return name == "MPI_COMM_WORLD" ? "" : ", on " + name;
}

std::string gone_text(const Graph& graph)
{
    std::set<int> gone;
    for (const int rank : graph.stuck())
        for (const Pending* operation : graph.missing(rank))
            for (const int other : graph.awaited(rank, *operation))
                if (graph.is_gone(other)) gone.insert(other);
    std::string text;
    for (const int rank : gone) text += fmt::format("  rank {} {}\n", rank, end_of(graph, rank));
    return text;
}

std::string cycle_text(const Graph& graph)
{
    std::string text;
    for (const int rank : graph.cycle()) text += fmt::format("{}{}", text.empty() ? "cycle: " : " -> ", rank);
    return text;
}

std::string indented(const std::vector<std::string>& places)
{
    std::string text;
    for (const std::string& place : places) text += fmt::format("      at {}\n", place);
    return text;
}

std::string text_of(const Graph& graph, int rank, const Pending& operation)
{
    const std::string on = on_communicator(graph, rank, operation.communicator);
    const std::string peer = operation.peer == any ? "any rank" : std::to_string(operation.peer);
    switch (operation.kind) {
        case Kind::send:
            return fmt::format("to {}, {}{}", peer, tag_text(operation.tag), on);
        case Kind::receive:
        case Kind::probe:
            return fmt::format("from {}, {}{}", peer, tag_text(operation.tag), on);
        case Kind::collective: {
            const auto awaited = graph.awaited(rank, operation);
            return fmt::format("the {} collective on {}, which {} {} not come to", ordinal(operation.nth),
                               name_of(graph, rank, operation.communicator), list_of(awaited),
                               awaited.size() == 1 ? "has" : "have");
        }
        case Kind::none:
            break;
    }
    return "";
}

}  // namespace shardlings::watch
