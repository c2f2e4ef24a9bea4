// The files through which a judge and a driver talk.
#pragma once

#include <string>

namespace grade {

inline constexpr const char* cases_file = "cases.cbor";
/// Names a file to which a judge adds what each case has cost, a line each: bytes sent by all ranks, virtual
/// seconds of the slowest.
inline constexpr const char* costs_variable = "SHARDLINGS_COSTS";

/// Written by a rank that begins with case `index`, so that starting many processes is not taken for a hang.
inline std::string started_file(const std::string& folder, std::size_t index, int rank)
{
    return folder + "/started." + std::to_string(index) + "." + std::to_string(rank);
}

inline std::string result_file(const std::string& folder, std::size_t index, int rank)
{
    return folder + "/result." + std::to_string(index) + "." + std::to_string(rank) + ".cbor";
}

}  // namespace grade
