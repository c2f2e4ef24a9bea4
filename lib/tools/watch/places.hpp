// Addresses in a rank as lines of its source.
#pragma once

#include <string>
#include <vector>

#include "lib/tools/watch/record.hpp"

namespace shardlings::watch {

/// Addresses of one rank, innermost first, each that of a return.
struct Stack {
    const Record* record;
    std::vector<std::uint64_t> addresses;
};

inline constexpr std::size_t lines_shown = 4;

/// For each stack the program's own lines in it, "ring.c:12 in exchange", at most `most`; without debug
/// information a place in the program and how to get more. Files are read in a process of its own, which
/// whatever is in them may end.
std::vector<std::vector<std::string>> places_of(const std::vector<Stack>& stacks,
                                                std::size_t most = lines_shown);

/// The stack that the rank has written, or the place of the call when it has not.
Stack stack_of(const Record& record, std::uint64_t site);

}  // namespace shardlings::watch
