// Numbers of things as people say them.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace shardlings {

/// "1 byte", "0 bytes", "3 bytes": a number and what it counts, whose plural takes an s.
template <class Integer>
std::string counted(Integer number, std::string_view thing)
{
    return fmt::format("{} {}{}", number, thing, number == Integer{1} ? "" : "s");
}

}  // namespace shardlings
