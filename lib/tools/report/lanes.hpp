// The timeline and the memory of all ranks in few bytes, as page/data.js reads them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

#include "lib/tools/trace/timeline.hpp"
#include "lib/tools/trace/trace.hpp"

namespace shardlings {

/// What is left out where everything would be too much to load.
enum class Detail : std::uint8_t { everything, no_messages, outermost };

/// The last steps of a run, as many as there is room for.
struct Excerpt {
    Span window{};
    std::int64_t first_step = 0;
    std::int64_t last_step = 0;
    Detail detail = Detail::everything;
};

/// The steps at the end of the run whose instructions are at most `most` on all ranks together; of the last
/// one, if that is too long, as little as needed is left out.
Excerpt choose_excerpt(std::span<const RankTrace> traces, std::size_t most);

/// Times are whole picoseconds since the window's begin, each as the difference to the one before it. A lane
/// is a list of (begin, duration, number of the instruction); the instructions, with what is the same each
/// time they run, stand in a list of their own.
nlohmann::json timeline_json(std::span<const RankTrace> traces, const Excerpt& excerpt);

/// The bytes of every category, as differences too, at most `most` points on all ranks together: peaks stay.
nlohmann::json memory_json(std::span<const RankTrace> traces, const Excerpt& excerpt, std::size_t most);

}  // namespace shardlings
