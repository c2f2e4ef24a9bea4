// What is said after a run has ended.
#include <fmt/core.h>

#include <algorithm>

#include "lib/tools/watch/phrases.hpp"
#include "lib/tools/watch/places.hpp"
#include "lib/tools/watch/report.hpp"

namespace shardlings::watch {

namespace {

constexpr std::size_t most_remarks = 12;

struct Remark {
    std::string text;
    Stack stack;
};

void add_findings(const Graph& graph, int rank, std::vector<Remark>& remarks)
{
    const Record& record = *graph.rank(rank).record;
    for (std::uint32_t i = 0; i < std::min(record.header.finding_count, most_findings); ++i) {
        const Finding& finding = record.header.findings[i];
        if (finding.fault != Fault::buffer_changed && finding.fault != Fault::buffer_freed) continue;
        const bool receives =
            finding.call == Call::Irecv || finding.call == Call::Recv_init || finding.call == Call::Imrecv;
        remarks.push_back({fmt::format("rank {} {} the buffer of {} {} {}, {}, before it was complete", rank,
                                       finding.fault == Fault::buffer_freed ? "freed" : "wrote to",
                                       name_of(finding.call), receives ? "from" : "to",
                                       finding.other == any ? "any rank" : std::to_string(finding.other),
                                       tag_text(finding.tag)),
                           Stack{&record, {finding.site}}});
    }
}

void add_leaks(const Graph& graph, int rank, std::vector<Remark>& remarks)
{
    const Record& record = *graph.rank(rank).record;
    for (std::uint32_t slot = first_request; slot < std::min(record.header.pending_end, most_pending);
         ++slot) {
        const Pending& operation = record.pending[slot];
        if (operation.active == 0 || operation.kind == Kind::none) continue;
        remarks.push_back(
            {fmt::format("rank {} never completed the request of {}{}", rank, name_of(operation.call),
                         operation.kind == Kind::collective ? "" : " " + text_of(graph, rank, operation)),
             Stack{&record, {operation.site}}});
    }
}

void add_unmatched(const Graph& graph, int from, std::vector<Remark>& remarks)
{
    for (const Channel& channel : graph.rank(from).record->channels) {
        if (channel.communicator == 0 || channel.peer < 0 || channel.peer >= graph.size() || channel.tag < 0)
            continue;
        const auto count = graph.in_flight(channel.communicator, from, channel.peer, channel.tag).value_or(0);
        if (count <= 0) continue;
        remarks.push_back({fmt::format("rank {} never received {} message{} of rank {} with tag {}{}",
                                       channel.peer, count, count == 1 ? "" : "s", from, channel.tag,
                                       on_communicator(graph, from, channel.communicator)),
                           Stack{graph.rank(from).record, {}}});
    }
}

bool has_finalized(const Graph& graph, int rank)
{
    const Record* record = graph.rank(rank).record;
    return record != nullptr &&
           (record->header.life == Life::finalized || record->header.life == Life::finalizing);
}

}  // namespace

std::string closing_report(const Graph& graph)
{
    bool all_finalized = true;
    std::vector<Remark> remarks;
    for (int rank = 0; rank < graph.size(); ++rank) {
        all_finalized = all_finalized && has_finalized(graph, rank);
        if (graph.rank(rank).record != nullptr) add_findings(graph, rank, remarks);
    }
    for (int rank = 0; rank < graph.size() && all_finalized; ++rank) {
        add_leaks(graph, rank, remarks);
        add_unmatched(graph, rank, remarks);
    }
    const std::size_t all = remarks.size();
    remarks.resize(std::min(all, most_remarks), Remark{"", Stack{nullptr, {}}});
    std::vector<Stack> stacks;
    for (const Remark& remark : remarks) stacks.push_back(remark.stack);
    const auto places = places_of(stacks);
    std::string text;
    for (std::size_t i = 0; i < remarks.size(); ++i)
        text += fmt::format("watch: {}\n{}", remarks[i].text, indented(places[i]));
    if (all > remarks.size()) text += fmt::format("watch: … and {} more of these\n", all - remarks.size());
    return text;
}

}  // namespace shardlings::watch
