// How a judge and a driver talk: by files in a folder; by pipes in it when the driver runs in a sandbox.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace grade {

inline constexpr const char* cases_file = "cases.cbor";
/// Names a file to which a judge adds what each case has cost, a line each: bytes sent by all ranks, virtual
/// seconds of the slowest.
inline constexpr const char* costs_variable = "SHARDLINGS_COSTS";

/// Says that a rank has begun with a case or has finished one: starting many processes is not taken for a
/// hang.
inline void note_progress(const std::string& folder)
{
    std::error_code ignored;
    std::filesystem::last_write_time(folder, std::filesystem::file_time_type::clock::now(), ignored);
}

/// One behind the other, the results of a rank: the number of the case and of bytes, two uint64, and that
/// many bytes of CBOR. The last one of a rank that was killed may be cut.
inline std::string results_file(const std::string& folder, int rank)
{
    return folder + "/results." + std::to_string(rank);
}

/// From the judge to a rank: the number of bytes and the number of its first frame, two uint64, then the
/// cases as CBOR with the inputs of this rank alone. Once they are read they are nowhere.
inline std::string inputs_pipe(const std::string& folder, int rank)
{
    return folder + "/inputs." + std::to_string(rank);
}

/// From a rank to the judge: frames, in the order of what they tell and numbered, so that one that somebody
/// else adds is seen.
inline std::string frames_pipe(const std::string& folder, int rank)
{
    return folder + "/frames." + std::to_string(rank);
}

/// In the message about a case in which a rank wrote to what the machine counts: nothing of that part counts.
inline constexpr const char* tampering = "written to by the submission";

/// In the message about a case in which what the device's memory is for was kept beside it: the same.
inline constexpr const char* hoarding = "kept where no budget sees them";

enum class FrameKind : std::uint32_t {
    case_begins,      // index
    result,           // index; `size` bytes of CBOR follow
    measuring,        // starts: counters and peaks are those of what follows
    measured,         // ends
    memory_changed,   // category, amount: bytes
    peaks_forgotten,  // those of before
    computed,         // value: FLOPs
    message_sent,     // peer, amount: bytes, value: arrival in virtual time
    message_waited,   // the same; category: 1 when it was received
    heap_peak,        // amount: bytes, of memory that is not the device's
};

struct Frame {
    std::uint64_t number = 0;
    FrameKind kind{};
    std::int32_t stream = 0;
    std::int32_t category = 0;
    std::int32_t peer = 0;
    std::uint64_t index = 0;
    std::int64_t amount = 0;
    double value = 0.0;
    double now = 0.0;  // the clock of the stream in use
    std::uint64_t size = 0;
};

}  // namespace grade
