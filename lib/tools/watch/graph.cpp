#include "lib/tools/watch/graph.hpp"

#include <algorithm>
#include <deque>
#include <map>

namespace shardlings::watch {

namespace {

std::uint32_t bounded(std::uint32_t value, std::uint32_t most)
{
    return std::min(value, most);
}

bool same_pattern(const Pending& one, const Pending& other)
{
    return one.communicator == other.communicator && one.peer == other.peer && one.tag == other.tag;
}

bool takes(const Pending& receive, std::uint64_t communicator, int from, std::int32_t tag)
{
    return receive.communicator == communicator && (receive.peer == any || receive.peer == from) &&
           (receive.tag == any || receive.tag == tag);
}

}  // namespace

std::vector<int> members_of(const CommunicatorRecord& communicator, int size)
{
    return partners_of(communicator, Call::none, size);
}

std::vector<int> partners_of(const CommunicatorRecord& communicator, Call call, int size)
{
    const auto& bits = is_among_neighbours(call) ? communicator.neighbours : communicator.members;
    std::vector<int> ranks;
    for (int rank = 0; rank < std::min(size, static_cast<int>(most_ranks)); ++rank)
        if ((bits[rank / 64] >> (static_cast<unsigned>(rank) % 64U) & 1U) != 0) ranks.push_back(rank);
    return ranks;
}

Graph::Graph(std::vector<RankView> ranks)
    : ranks_(std::move(ranks)), channels_(ranks_.size()), progressing_(ranks_.size(), false)
{
    for (int rank = 0; rank < size(); ++rank) {
        if (!has(rank)) continue;
        for (const Channel& channel : this->rank(rank).record->channels)
            if (channel.communicator != 0) channels_[static_cast<std::size_t>(rank)].push_back(channel);
    }
    for (int rank = 0; rank < size(); ++rank)
        progressing_[static_cast<std::size_t>(rank)] = !is_gone(rank) && !waits(rank);
    for (bool grown = true; grown;) {
        grown = false;
        for (int rank = 0; rank < size(); ++rank) {
            if (may_progress(rank) || is_gone(rank)) continue;
            const Header& header = this->rank(rank).record->header;
            for (std::uint32_t i = 0; i < bounded(header.group_count, most_groups) && !may_progress(rank);
                 ++i)
                if (can_end(rank, header.groups[i]))
                    grown = progressing_[static_cast<std::size_t>(rank)] = true;
        }
    }
}

bool Graph::is_gone(int rank) const
{
    const RankView& view = this->rank(rank);
    if (view.record == nullptr) return view.ended;
    return view.ended ||
           (view.record->header.life != Life::running && view.record->header.life != Life::starting);
}

bool Graph::waits(int rank) const
{
    return has(rank) && this->rank(rank).still && this->rank(rank).record->header.group_count > 0;
}

std::vector<int> Graph::stuck() const
{
    std::vector<int> all;
    for (int rank = 0; rank < size(); ++rank)
        if (!may_progress(rank) && !is_gone(rank)) all.push_back(rank);
    return all;
}

std::vector<const Pending*> Graph::operations(int rank, const Group& group) const
{
    std::vector<const Pending*> all;
    const Record& record = *this->rank(rank).record;
    for (std::uint32_t i = 0; i < bounded(group.count, most_items); ++i) {
        const std::uint32_t item = group.first + i;
        if (item >= most_items || record.header.items[item] >= most_pending) continue;
        const Pending& operation = record.pending[record.header.items[item]];
        if (operation.active != 0) all.push_back(&operation);
    }
    return all;
}

bool Graph::can_end(int rank, const Group& group) const
{
    const auto all = operations(rank, group);
    const auto ends = [&](const Pending* operation) { return can_end(rank, *operation); };
    if (all.empty()) return true;
    if (group.all != 0) return std::ranges::all_of(all, ends);
    return group.unknown != 0 || std::ranges::any_of(all, ends);
}

bool Graph::can_end(int rank, const Pending& operation) const
{
    if (is_over(rank, operation)) return true;
    const auto others = awaited(rank, operation);
    const auto progresses = [&](int other) { return may_progress(other); };
    return operation.kind == Kind::collective ? std::ranges::all_of(others, progresses)
                                              : std::ranges::any_of(others, progresses);
}

std::set<int> Graph::awaited(int rank, const Pending& operation) const
{
    std::set<int> others;
    if (operation.kind != Kind::collective && operation.peer != any) {
        if (operation.peer >= 0 && operation.peer < size()) others.insert(operation.peer);
        return others;
    }
    const CommunicatorRecord* entry = communicator(rank, operation.communicator);
    if (entry == nullptr) return others;
    for (const int member : partners_of(*entry, operation.call, size()))
        if (member != rank && !(operation.kind == Kind::collective && has_come(member, operation)))
            others.insert(member);
    return others;
}

bool Graph::is_over(int rank, const Pending& operation) const
{
    switch (operation.kind) {
        case Kind::receive:
        case Kind::probe:
            return receive_is_over(rank, operation);
        case Kind::send:
            return send_is_over(rank, operation);
        case Kind::collective:
            return communicator(rank, operation.communicator) == nullptr || awaited(rank, operation).empty();
        case Kind::none:
            break;
    }
    return true;
}

bool Graph::has_come(int rank, const Pending& collective) const
{
    const CommunicatorRecord* entry = communicator(rank, collective.communicator);
    if (entry != nullptr) return entry->collectives >= collective.nth;
    // It has not yet got the communicator, or has forgotten it: one that has gone will never get it.
    return has(rank) && (!is_gone(rank) || this->rank(rank).record->header.forgotten != 0);
}

std::optional<std::int64_t> Graph::arriving(int rank, const Pending& pattern) const
{
    if (pattern.peer != any) return in_flight(pattern.communicator, pattern.peer, rank, pattern.tag);
    const CommunicatorRecord* entry = communicator(rank, pattern.communicator);
    if (entry == nullptr) return {};
    std::int64_t all = 0;
    for (const int member : members_of(*entry, size())) {
        const auto some = in_flight(pattern.communicator, member, rank, pattern.tag);
        if (!some) return {};
        all += *some;
    }
    return all;
}

bool Graph::receive_is_over(int rank, const Pending& receive) const
{
    const auto messages = arriving(rank, receive);
    if (!messages) return true;
    // Receives of the same kind that were posted before take theirs first. Before one from any source or of
    // any tag, so do receives of one channel; not both are counted, since one could have the other's message.
    std::int64_t taken = 0;
    std::map<std::pair<int, int>, std::int64_t> exact;
    for (const Pending* other : posted_receives(rank)) {
        if (other == &receive || other->order >= receive.order) continue;
        if (same_pattern(*other, receive))
            ++taken;
        else if (other->peer != any && other->tag != any &&
                 takes(receive, other->communicator, other->peer, other->tag))
            ++exact[{other->peer, other->tag}];
    }
    if (taken == 0)
        for (const auto& [channel, count] : exact)
            taken += std::min(
                count, in_flight(receive.communicator, channel.first, rank, channel.second).value_or(0));
    return *messages > taken;
}

bool Graph::send_is_over(int rank, const Pending& send) const
{
    if (send.nth == 0 || !has(send.peer)) return true;
    const Header& peer = this->rank(send.peer).record->header;
    if (peer.lost != 0 || this->rank(rank).record->header.lost != 0) return true;
    std::int64_t received = 0;
    for (const Channel& channel : channels_[static_cast<std::size_t>(send.peer)]) {
        if (channel.communicator != send.communicator || channel.peer != rank) continue;
        if (channel.tag == other_tags && channel.received > 0) return true;
        if (channel.tag == send.tag) received = static_cast<std::int64_t>(channel.received);
    }
    const std::int64_t before_and_this = static_cast<std::int64_t>(send.nth) - received;
    if (before_and_this <= 0) return true;
    std::int64_t posted = 0;
    for (const Pending* receive : posted_receives(send.peer))
        if (takes(*receive, send.communicator, rank, send.tag)) ++posted;
    return posted >= before_and_this;
}

std::vector<const Pending*> Graph::posted_receives(int rank) const
{
    std::vector<const Pending*> all;
    const Record& record = *this->rank(rank).record;
    for (std::uint32_t slot = first_request; slot < bounded(record.header.pending_end, most_pending); ++slot)
        if (record.pending[slot].active != 0 && record.pending[slot].kind == Kind::receive)
            all.push_back(&record.pending[slot]);
    for (std::uint32_t i = 0; i < bounded(record.header.group_count, most_groups); ++i)
        for (const Pending* operation : operations(rank, record.header.groups[i]))
            if (operation == &record.pending[blocking_receive] && operation->kind == Kind::receive)
                all.push_back(operation);
    return all;
}

std::optional<std::int64_t> Graph::in_flight(std::uint64_t communicator, int from, int to,
                                             std::int32_t tag) const
{
    if (!has(from) || !has(to)) return {};
    if (rank(from).record->header.lost != 0 || rank(to).record->header.lost != 0) return {};
    std::int64_t all = 0;
    std::int64_t tagged = 0;
    bool other = false;
    const auto add = [&](int at, int peer, std::uint64_t Channel::*number, std::int64_t sign) {
        for (const Channel& channel : channels_[static_cast<std::size_t>(at)]) {
            if (channel.communicator != communicator || channel.peer != peer) continue;
            const std::int64_t count = sign * static_cast<std::int64_t>(channel.*number);
            all += count;
            if (channel.tag == tag) tagged += count;
            other = other || (channel.tag == other_tags && count != 0);
        }
    };
    add(from, to, &Channel::sent, 1);
    add(to, from, &Channel::received, -1);
    const std::int64_t wanted = tag == any ? all : tagged;
    if (all < 0 || (tag != any && all != 0 && (other || tagged < 0))) return {};
    return tag != any && all == 0 ? 0 : wanted;
}

const CommunicatorRecord* Graph::communicator(int rank, std::uint64_t id) const
{
    if (!has(rank)) return nullptr;
    for (const CommunicatorRecord& entry : this->rank(rank).record->communicators)
        if (entry.id == id && id != 0) return &entry;
    return nullptr;
}

std::vector<const Pending*> Graph::missing(int rank) const
{
    std::vector<const Pending*> all;
    const Header& header = this->rank(rank).record->header;
    for (std::uint32_t i = 0; i < bounded(header.group_count, most_groups); ++i)
        for (const Pending* operation : operations(rank, header.groups[i]))
            if (!can_end(rank, *operation)) all.push_back(operation);
    return all;
}

std::vector<int> Graph::cycle() const
{
    std::vector<int> best;
    for (const int start : stuck()) {
        std::map<int, int> came_from{{start, start}};
        std::deque<int> next{start};
        while (!next.empty()) {
            const int rank = next.front();
            next.pop_front();
            for (const Pending* operation : missing(rank))
                for (const int other : awaited(rank, *operation)) {
                    if (other == start) {
                        std::vector<int> path{start};
                        for (int at = rank; at != start; at = came_from[at]) path.push_back(at);
                        path.push_back(start);
                        std::ranges::reverse(path);
                        if (best.empty() || path.size() < best.size()) best = path;
                        next.clear();
                    } else if (!may_progress(other) && !is_gone(other) &&
                               came_from.emplace(other, rank).second) {
                        next.push_back(other);
                    }
                }
        }
    }
    return best;
}

}  // namespace shardlings::watch
