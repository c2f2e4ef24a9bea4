// Numbers of all sizes as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shardlings::plan {

/// "57.98 GB", "1.325 EFLOP", "124.4 M" without a unit: four digits and a prefix of 1000s.
std::string with_prefix(double value, std::string_view unit);
/// "174 591 682 560".
std::string grouped(std::int64_t value);
/// "12.4 %".
std::string percent(double part);

}  // namespace shardlings::plan
