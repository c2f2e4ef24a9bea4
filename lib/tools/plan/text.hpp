// Numbers of all sizes as people write them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace shardlings::plan {

/// Formats at the end of `text`.
template <class... Args>
void add(std::string& text, fmt::format_string<Args...> format, Args&&... args)
{
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
}

/// "57.98 GB", "1.325 EFLOP", "124.4 M" without a unit: four digits and a prefix of 1000s.
std::string with_prefix(double value, std::string_view unit);
/// "174 591 682 560".
std::string grouped(std::int64_t value);
/// "12.4 %".
std::string percent(double part);

}  // namespace shardlings::plan
