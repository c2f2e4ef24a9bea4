#include "lib/tools/plan/text.hpp"

#include <array>
#include <cmath>

namespace shardlings::plan {

std::string with_prefix(double value, std::string_view unit)
{
    constexpr std::array<const char*, 10> prefixes{"", "k", "M", "G", "T", "P", "E", "Z", "Y", "R"};
    std::size_t at = 0;
    // What would round to 1000 gets the next prefix.
    for (; value >= 999.95 && at + 1 < prefixes.size(); ++at) value /= 1000.0;
    const std::string prefixed = fmt::format("{}{}", prefixes[at], unit);
    const int decimals = at == 0 && value == std::floor(value) ? 0
                         : value < 9.9995                      ? 3
                         : value < 99.995                      ? 2
                                                               : 1;
    return fmt::format("{:.{}f}{}{}", value, decimals, prefixed.empty() ? "" : " ", prefixed);
}

std::string grouped(std::int64_t value)
{
    std::string digits = std::to_string(value);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
        digits.insert(static_cast<std::size_t>(at), " ");
    return digits;
}

std::string percent(double part)
{
    return fmt::format("{:.1f} %", 100.0 * part);
}

}  // namespace shardlings::plan
