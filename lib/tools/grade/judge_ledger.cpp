#include "lib/tools/grade/judge_ledger.hpp"

#include <algorithm>

namespace grade {

using shardlings::Category;
using shardlings::category_count;
using shardlings::stream_count;

void Ledger::refuse(const std::string& what)
{
    if (contradiction_.empty())
        contradiction_ = fmt::format("rank {}: the device's record of memory, messages and time was {}: {}",
                                     rank_, tampering, what);
}

void Ledger::move_clock(const Frame& frame, double at_least)
{
    double& now = now_[static_cast<std::size_t>(frame.stream)];
    if (!(frame.now >= std::max(now, at_least)))
        refuse(fmt::format("its clock shows {:.9g} s, and it cannot be before {:.9g} s", frame.now,
                           std::max(now, at_least)));
    now = frame.now;
}

void Ledger::take_memory(const Frame& frame)
{
    auto& by = memory_.current_by[static_cast<std::size_t>(frame.category)];
    if (frame.amount < 0 && static_cast<std::uint64_t>(-frame.amount) > by)
        return refuse(fmt::format("it gave back more {} than it had", name_of(Category(frame.category))));
    by += static_cast<std::uint64_t>(frame.amount);
    memory_.current += static_cast<std::uint64_t>(frame.amount);
    auto& peak_by = memory_.peak_by[static_cast<std::size_t>(frame.category)];
    peak_by = std::max(peak_by, by);
    memory_.peak = std::max(memory_.peak, memory_.current);
}

void Ledger::take_sent(const Frame& frame)
{
    if (frame.peer < 0 || frame.peer >= topology_.devices() || frame.amount < 0)
        return refuse("it sent to a rank that does not exist");
    const bool crosses = topology_.node_of(rank_) != topology_.node_of(frame.peer);
    double& free = link_free_[crosses ? 1 : 0];
    const double arrival = std::max(frame.now, free) +
                           topology_.link(rank_, frame.peer).seconds(static_cast<double>(frame.amount));
    if (!(frame.value >= arrival))
        refuse(fmt::format("a message to rank {} arrives at {:.9g} s, which takes until {:.9g} s", frame.peer,
                           frame.value, arrival));
    free = frame.value;
    traffic_.add(frame.peer, static_cast<std::uint64_t>(frame.amount), crosses);
    sent_.push_back({frame.peer, frame.amount, frame.value});
}

void Ledger::begin_counting(const Frame& frame)
{
    memory_.peak_by = memory_.current_by;
    memory_.peak = memory_.current;
    begin_flops_ = flops_;
    begin_time_ = frame.now;
    begin_memory_ = memory_.current;
    traffic_ = {};
    heap_peak_ = 0;
}

void Ledger::take(const Frame& frame)
{
    if (frame.stream < 0 || frame.stream >= stream_count || frame.category < 0 ||
        frame.category >= category_count)
        return refuse("it told what cannot be");
    const double now = now_[static_cast<std::size_t>(frame.stream)];
    switch (frame.kind) {
        case FrameKind::memory_changed:
            move_clock(frame, now);
            return take_memory(frame);
        case FrameKind::peaks_forgotten:
            memory_.peak_by = memory_.current_by;
            memory_.peak = memory_.current;
            return move_clock(frame, now);
        case FrameKind::computed:
            if (!(frame.value >= 0.0)) refuse("it computed less than nothing");
            flops_ += frame.value;
            return move_clock(frame, now + frame.value / topology_.flops);
        case FrameKind::message_sent:
            move_clock(frame, now);
            return take_sent(frame);
        case FrameKind::message_waited:
            if (frame.category == 1) received_.push_back({frame.peer, frame.amount, frame.value});
            return move_clock(frame, frame.value);
        case FrameKind::heap_peak:
            if (!measured_) heap_peak_ = std::max(heap_peak_, frame.amount);
            return;
        case FrameKind::measuring:
            move_clock(frame, now);
            return begin_counting(frame);
        case FrameKind::measured:
            move_clock(frame, now);
            measured_ = true;
            counters_ = {{"peak_by", memory_.peak_by},
                         {"current_by", memory_.current_by},
                         {"peak", memory_.peak},
                         {"current", memory_.current},
                         {"begin", begin_memory_},
                         {"messages", traffic_.total.messages},
                         {"bytes", traffic_.total.bytes},
                         {"inter_node_bytes", traffic_.inter_node.bytes},
                         {"virtual_seconds", frame.now - begin_time_},
                         {"flops", flops_ - begin_flops_}};
            for (const auto& [peer, count] : traffic_.to)
                counters_["to"][std::to_string(peer)] = {count.messages, count.bytes};
            return;
        case FrameKind::case_begins:
        case FrameKind::result:
            return;
    }
}

std::string Ledger::contradiction(const json& measured) const
{
    if (!contradiction_.empty() || measured.empty()) return contradiction_;
    for (const auto& [name, value] : counters_.items()) {
        if (name == "to") continue;
        const json reported = measured.value(name, json());
        if (reported != value)
            return fmt::format("rank {}: the device's record was {}: {} is reported as {} and was {}", rank_,
                               tampering, name, reported.dump(), value.dump());
    }
    const json sent_to = counters_.value("to", json::object());
    const json reported_to = measured.value("to", json::object());
    for (const auto& [peer, count] : reported_to.items())
        if (sent_to.value(peer, json{0, 0}) != count)
            return fmt::format("rank {}: the device's record was {}: messages to rank {}", rank_, tampering,
                               peer);
    return {};
}

std::string unsent_message(const std::vector<Ledger>& ledgers)
{
    for (std::size_t rank = 0; rank < ledgers.size(); ++rank) {
        std::map<int, std::vector<Told>> sent_here;
        for (const Told& received : ledgers[rank].received()) {
            const auto peer = static_cast<std::size_t>(received.peer);
            if (peer >= ledgers.size()) return fmt::format("rank {} received from nobody", rank);
            if (!sent_here.contains(received.peer)) {
                auto& here = sent_here[received.peer];
                for (const Told& sent : ledgers[peer].sent())
                    if (sent.peer == static_cast<int>(rank)) here.push_back(sent);
            }
            auto& here = sent_here[received.peer];
            const auto match = std::ranges::find_if(here, [&](const Told& sent) {
                return sent.bytes == received.bytes && sent.arrival == received.arrival;
            });
            if (match == here.end())
                return fmt::format(
                    "rank {}: a message's time was {}: what it received from rank {} at {:.9g} s was not "
                    "sent so",
                    rank, tampering, received.peer, received.arrival);
            here.erase(match);
        }
    }
    return {};
}

}  // namespace grade
