#include "lib/tools/watch/report.hpp"

#include <fmt/core.h>
#include <string.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "lib/tools/watch/phrases.hpp"
#include "lib/tools/watch/places.hpp"

namespace shardlings::watch {

namespace {

/// "MPI_Recv from 3, tag 7"; "MPI_Waitall: MPI_Irecv from 3, tag 7"; "a loop of MPI_Test: …".
std::string wait_text(const Graph& graph, int rank)
{
    const Header& header = graph.rank(rank).record->header;
    const Call call = header.groups[0].call;
    const auto missing = graph.missing(rank);
    std::string text = header.polling != 0 ? "a loop of " + name_of(call) : name_of(call);
    if (missing.size() == 1 && missing.front()->call == call && call != Call::Sendrecv)
        return text + (missing.front()->kind == Kind::collective ? ", " : " ") +
               text_of(graph, rank, *missing.front());
    const char* before = ": ";
    std::size_t shown = 0;
    for (const Pending* operation : missing) {
        if (shown++ == 4) return text + fmt::format(", … ({} in all)", missing.size());
        const bool part = operation->call == call && operation->kind != Kind::collective;
        text += fmt::format("{}{}{}", before, part ? "" : name_of(operation->call) + " ",
                            text_of(graph, rank, *operation));
        before = header.groups[0].all != 0 ? " and " : " or ";
    }
    return text;
}

/// Messages to a stuck receiver that it does not ask for.
std::string near_misses(const Graph& graph, int rank)
{
    std::string text;
    for (const Pending* receive : graph.missing(rank)) {
        if (receive->kind != Kind::receive && receive->kind != Kind::probe) continue;
        for (const int from : graph.awaited(rank, *receive)) {
            if (graph.rank(from).record == nullptr) continue;
            for (const Channel& channel : graph.rank(from).record->channels) {
                if (channel.communicator == 0 || channel.peer != rank || channel.tag < 0) continue;
                const auto count = graph.in_flight(channel.communicator, from, rank, channel.tag).value_or(0);
                const bool same = channel.communicator == receive->communicator;
                if (count <= 0 || (same && (receive->tag == any || channel.tag == receive->tag))) continue;
                text += fmt::format(
                    "  near miss: rank {} has sent {} message{} with tag {}{}, rank {} waits for {}\n", from,
                    count, count == 1 ? "" : "s", channel.tag,
                    same ? "" : " on " + name_of(graph, from, channel.communicator), rank,
                    tag_text(receive->tag));
            }
        }
    }
    return text;
}

std::string signature_text(const Signature& signature)
{
    std::string text = name_of(signature.call);
    if (signature.root != any) text += fmt::format(", root {}", signature.root);
    if (signature.bytes != 0)
        text += fmt::format(", {} × {} ({} bytes)", signature.count,
                            signature.type_name[0] != '\0'
                                ? std::string(signature.type_name, strnlen(signature.type_name, 32))
                                : "a type",
                            signature.bytes - 1);
    if (signature.reduction != 0 && signature.reduction < std::size(reductions))
        text += fmt::format(", {}", reductions[signature.reduction]);
    return text;
}

/// "  rank 1 sends 8 bytes to rank 0, which expects 4"
std::string exchange_text(int from, std::uint64_t sent, int to, std::uint64_t expected)
{
    if (sent == 0 || expected == 0 || sent == expected) return "";
    return fmt::format("  rank {} sends {} bytes to rank {}, which expects {}\n", from, sent - 1, to,
                       expected - 1);
}

}  // namespace

std::string deadlock_report(const Graph& graph)
{
    const auto stuck = graph.stuck();
    std::vector<Stack> stacks;
    bool synchronous = false;
    for (const int rank : stuck) {
        const Record& record = *graph.rank(rank).record;
        stacks.push_back(stack_of(record, record.header.groups[0].site));
        synchronous = synchronous || record.header.synchronous != 0;
    }
    const auto places = places_of(stacks);
    std::string text =
        fmt::format("watch: deadlock: {} of {} ranks can never go on\n", stuck.size(), graph.size());
    for (std::size_t i = 0; i < stuck.size(); ++i)
        text += fmt::format("  rank {} waits in {}\n{}", stuck[i], wait_text(graph, stuck[i]),
                            indented(places[i]));
    text += gone_text(graph);
    if (const std::string cycle = cycle_text(graph); !cycle.empty()) text += "  " + cycle + "\n";
    for (const int rank : stuck) text += near_misses(graph, rank);
    std::set<int> others;
    for (int rank = 0; rank < graph.size(); ++rank)
        if (graph.may_progress(rank)) others.insert(rank);
    if (!others.empty())
        text += fmt::format("  {} {} or may yet go on\n", list_of(others),
                            others.size() == 1 ? "computes" : "compute");
    if (synchronous)
        text +=
            "  sends are synchronous (--synchronous): without that, the program may end, while its messages "
            "are "
            "short enough to be buffered\n";
    return text;
}

std::string mismatch_report(const Graph& graph, int rank, const Finding& finding)
{
    const Signature* two[2] = {};
    const int ranks[2] = {rank, finding.other};
    for (int i = 0; i < 2; ++i) {
        const CommunicatorRecord* entry = graph.communicator(ranks[i], finding.communicator);
        if (entry != nullptr) two[i] = &entry->signatures[finding.nth % kept_signatures];
        if (two[i] == nullptr || two[i]->nth != finding.nth) return "";
    }
    const auto places = places_of({Stack{graph.rank(rank).record, {two[0]->site}},
                                   Stack{graph.rank(finding.other).record, {two[1]->site}}});
    std::string text = fmt::format("watch: the ranks' {} collective on {} is not the same\n",
                                   ordinal(finding.nth), name_of(graph, rank, finding.communicator));
    for (const std::size_t i : {ranks[0] < ranks[1] ? 0U : 1U, ranks[0] < ranks[1] ? 1U : 0U})
        text +=
            fmt::format("  rank {} called {}\n{}", ranks[i], signature_text(*two[i]), indented(places[i]));
    const std::size_t side = finding.tag == 1 ? 1 : 0;
    return text + exchange_text(rank, two[0]->sends[side], finding.other, two[1]->expects[1 - side]) +
           exchange_text(finding.other, two[1]->sends[1 - side], rank, two[0]->expects[side]);
}

std::string finalize_report(const Graph& graph)
{
    std::set<int> failed;
    std::set<int> waiting;
    for (int rank = 0; rank < graph.size(); ++rank) {
        const RankView& view = graph.rank(rank);
        if (view.record == nullptr) return "";
        const Life life = view.record->header.life;
        if (life == Life::finalizing && !view.ended)
            waiting.insert(rank);
        else if (life != Life::finalized && life != Life::finalizing && graph.is_gone(rank))
            failed.insert(rank);
        else if (!view.ended)
            return "";
    }
    if (waiting.empty() || failed.empty()) return "";
    return fmt::format("watch: the job does not end: {} {} in MPI_Finalize for {}\n", list_of(waiting),
                       waiting.size() == 1 ? "waits" : "wait", list_of(failed));
}

std::string end_report(const Graph& graph, int rank)
{
    if (graph.rank(rank).record == nullptr) return "";
    const Record& record = *graph.rank(rank).record;
    const Header& header = record.header;
    std::string text;
    if (header.life == Life::crashed)
        text = fmt::format("watch: rank {} crashed: {} (signal {})\n", rank, strsignal(header.code),
                           header.code);
    else if (header.life == Life::exited)
        text = fmt::format("watch: rank {} left by exit({}) without MPI_Finalize\n", rank, header.code);
    else if (header.life == Life::aborted)
        text = fmt::format("watch: rank {} called MPI_Abort with code {}\n", rank, header.code);
    else if (header.life == Life::running)
        return fmt::format("watch: rank {} ended without MPI_Finalize: it was killed, or left by _exit()\n",
                           rank);
    else
        return "";
    return text + indented(places_of({stack_of(record, header.site)}).front());
}

}  // namespace shardlings::watch
