#include "lib/tools/grade/judge_timeline.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace grade {

namespace {

constexpr double picoseconds = 1e12;
constexpr double longest = 1e6;           // seconds: a virtual time that no test comes near
constexpr std::size_t longest_name = 80;  // bytes
constexpr int compute_kind = 0;
constexpr int send_kind = 1;
constexpr int receive_kind = 2;
constexpr int wait_kind = 3;

/// What the watch said that a rank waits for, of lines "  rank 2 waits for a message from 1, at ring.cpp:9".
std::string awaited(const std::string& failure, std::size_t rank)
{
    const std::string before = fmt::format("\n  rank {} waits for ", rank);
    const std::size_t line = failure.find(before);
    if (line == std::string::npos) return {};
    const std::size_t begin = line + before.size();
    const std::string words = failure.substr(begin, failure.find('\n', begin) - begin);
    return words.substr(0, std::min({words.find(", at "), words.find(", tag "), longest_name}));
}

Ending ending_of(const RankResult& rank)
{
    if (!rank.finished) return Ending::none;
    return rank.error.empty() ? Ending::result : Ending::error;
}

Event event_of(const json& entry)
{
    check(entry.is_array() && entry.size() == 6, "an event of a timeline has {} parts, expected 6",
          entry.size());
    for (const json& part : entry)
        check(part.is_number_integer(), "an event of a timeline holds {}, expected whole numbers",
              part.dump());
    Event event;
    event.kind = event.name = timeline_kinds.at(entry.at(0).get<std::size_t>());
    const auto stream = entry.at(1).get<int>();
    event.begin = static_cast<double>(entry.at(2).get<std::int64_t>()) / picoseconds;
    event.end = static_cast<double>(entry.at(3).get<std::int64_t>()) / picoseconds;
    event.peer = entry.at(4).get<int>();
    const auto bytes = entry.at(5).get<std::int64_t>();
    check(stream >= 0 && stream < stream_count && event.begin >= 0.0 && event.end >= event.begin &&
              event.end <= longest && bytes >= 0,
          "an event of a timeline holds what cannot be: {}", entry.dump());
    event.stream = static_cast<Stream>(stream);
    event.bytes = static_cast<std::uint64_t>(bytes);
    return event;
}

RankTimeline rank_of(const json& rank)
{
    RankTimeline timeline;
    const json& did = rank.at("did");
    const auto ending = rank.at("ending").get<int>();
    check(ending >= 0 && ending <= static_cast<int>(Ending::none), "a rank of a timeline ends with {}",
          ending);
    timeline.ending = static_cast<Ending>(ending);
    timeline.waits = rank.at("waits").get<std::string>().substr(0, longest_name);
    timeline.sent = did.at("sent").get<std::uint64_t>();
    timeline.received = did.at("received").get<std::uint64_t>();
    timeline.cut = did.at("cut").get<std::uint64_t>();
    check(did.at("events").size() <= most_timeline_events, "a rank of a timeline has {} events, expected {}",
          did.at("events").size(), most_timeline_events);
    for (const json& entry : did.at("events")) timeline.events.push_back(event_of(entry));
    return timeline;
}

}  // namespace

void TimelineRecorder::add(const Entry& entry)
{
    if (!(entry.begin >= 0.0 && entry.end >= entry.begin && entry.end <= longest)) return;
    if (entry.kind == compute_kind && !entries_.empty()) {
        Entry& last = entries_.back();
        if (last.kind == compute_kind && last.stream == entry.stream &&
            entry.begin <= last.end + 1.0 / picoseconds) {
            last.end = std::max(last.end, entry.end);
            return;
        }
    }
    if (entries_.size() == 2 * most_) {
        entries_.erase(entries_.begin(), entries_.end() - static_cast<std::ptrdiff_t>(most_));
        cut_ += most_;
    }
    entries_.push_back(entry);
}

void TimelineRecorder::take(const Frame& frame)
{
    if (measured_ || frame.stream < 0 || frame.stream >= stream_count) return;
    double& now = now_[static_cast<std::size_t>(frame.stream)];
    const double before = now;
    now = frame.now;
    const bool has_peer = frame.peer >= 0 && frame.peer < topology_.devices() && frame.amount >= 0;
    switch (frame.kind) {
        case FrameKind::computed:
            return add({compute_kind, frame.stream,
                        std::max(before, frame.now - frame.value / topology_.flops), frame.now, -1, 0});
        case FrameKind::message_sent: {
            if (!has_peer) return;
            ++sent_;
            const double seconds =
                topology_.link(rank_, frame.peer).seconds(static_cast<double>(frame.amount));
            return add({send_kind, frame.stream, std::max(0.0, frame.value - seconds), frame.value,
                        frame.peer, frame.amount});
        }
        case FrameKind::message_waited:
            if (!has_peer) return;
            received_ += frame.category == 1 ? 1 : 0;
            return add({frame.category == 1 ? receive_kind : wait_kind, frame.stream, before, frame.now,
                        frame.peer, frame.amount});
        case FrameKind::measuring:  // what came before was making the inputs
            entries_.clear();
            cut_ = sent_ = received_ = 0;
            return;
        case FrameKind::measured:
            measured_ = true;
            return;
        default:
            return;
    }
}

std::string TimelineRecorder::text() const
{
    const std::size_t kept = std::min(entries_.size(), most_);
    const auto whole = [](double seconds) { return std::llround(seconds * picoseconds); };
    std::string events;
    for (auto entry = entries_.end() - static_cast<std::ptrdiff_t>(kept); entry != entries_.end(); ++entry)
        events += fmt::format("{}[{},{},{},{},{},{}]", events.empty() ? "" : ",", entry->kind, entry->stream,
                              whole(entry->begin), whole(entry->end), entry->peer, entry->bytes);
    return fmt::format(R"({{"sent":{},"received":{},"cut":{},"events":[{}]}})", sent_, received_,
                       cut_ + entries_.size() - kept, events);
}

void note_timeline(const std::string& name, const CaseResult& result)
{
    const char* file = std::getenv(timeline_variable);
    if (file == nullptr || std::filesystem::exists(file) || result.ranks.size() < 2 ||
        result.ranks.size() > most_timeline_ranks)
        return;
    json ranks = json::array();
    bool any = false;
    for (std::size_t i = 0; i < result.ranks.size(); ++i) {
        const RankResult& rank = result.ranks[i];
        const bool recorded = rank.measured.is_object() && rank.measured.contains("timeline") &&
                              rank.measured.at("timeline").is_string();
        any = any || recorded;
        const std::string did = recorded ? rank.measured.at("timeline").get<std::string>()
                                         : TimelineRecorder(static_cast<int>(i), {}, 0).text();
        ranks.push_back({{"ending", static_cast<int>(ending_of(rank))},
                         {"waits", rank.finished ? std::string() : awaited(result.failure, i)},
                         {"did", json::parse(did, nullptr, false)}});
    }
    if (!any) return;
    const json all = {{"case", name}, {"ranks", ranks}};
    std::ofstream(file) << all.dump(-1, ' ', false, json::error_handler_t::replace);
}

Timeline timeline_of(const std::string& text)
{
    try {
        const json all = json::parse(text);
        Timeline timeline{all.at("case").get<std::string>().substr(0, longest_name), {}};
        check(all.at("ranks").size() <= most_timeline_ranks, "a timeline has {} ranks, expected at most {}",
              all.at("ranks").size(), most_timeline_ranks);
        for (const json& rank : all.at("ranks")) timeline.ranks.push_back(rank_of(rank));
        return timeline;
    } catch (const std::exception& error) {
        throw Error(fmt::format("this is no timeline: {}", error.what()));
    }
}

}  // namespace grade
