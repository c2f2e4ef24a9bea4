// What the ranks of a case did in virtual time: recorded by the judge from the frames of a driver in a
// sandbox, kept with the grade of a case that failed, and drawn on the student's page. Advice, never part of
// a verdict: what is in it was told by the process that is judged.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/machine/device/event.hpp"
#include "lib/machine/device/topology.hpp"
#include "lib/tools/grade/judge.hpp"
#include "lib/tools/grade/protocol.hpp"

namespace grade {

/// Names a file to which a judge writes the timeline of the first case that fails.
inline constexpr const char* timeline_variable = "SHARDLINGS_TIMELINE";

inline constexpr std::size_t most_timeline_ranks = 64;
inline constexpr std::size_t most_timeline_events = 1200;  // of a case, shared by its ranks

/// One rank of a case.
class TimelineRecorder {
  public:
    /// Of all events the last `most` are kept. Work without a pause in between is one event.
    TimelineRecorder(int rank, const Topology& topology, std::size_t most)
        : rank_(rank), topology_(topology), most_(most)
    {
    }
    /// A frame with a stream, of whatever content: what cannot be drawn is left out.
    void take(const Frame& frame);
    /// {"sent", "received": messages; "cut": events that are not there; "events": [[kind, stream, begin, end,
    /// peer, bytes]…]}, times in whole picoseconds, as text.
    std::string text() const;

  private:
    struct Entry {
        int kind;  // index in timeline_kinds
        int stream;
        double begin;
        double end;
        int peer;
        std::int64_t bytes;
    };
    void add(const Entry& entry);

    int rank_;
    Topology topology_;
    std::size_t most_;
    std::vector<Entry> entries_;
    std::size_t cut_ = 0;
    std::uint64_t sent_ = 0;
    std::uint64_t received_ = 0;
    bool measured_ = false;
    std::array<double, stream_count> now_{};
};

inline constexpr std::array<const char*, 4> timeline_kinds{"compute", "send", "receive", "wait"};

enum class Ending : std::uint8_t { result, error, none };

struct RankTimeline {
    Ending ending = Ending::none;
    std::string waits;  // "a message from 2", as the watch said; empty when it did not
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t cut = 0;
    std::vector<Event> events;
};

struct Timeline {
    std::string name;  // of the case
    std::vector<RankTimeline> ranks;
};

/// Writes the case's timeline to the file that the environment names, if it names one that is not there yet;
/// nothing for a case on one rank or without records.
void note_timeline(const std::string& name, const CaseResult& result);

/// What note_timeline() wrote. Error when the text is something else or exceeds the bounds above.
Timeline timeline_of(const std::string& text);

}  // namespace grade
