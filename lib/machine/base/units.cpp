#include "lib/machine/base/units.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "lib/machine/base/error.hpp"

namespace shardlings {

namespace {

constexpr std::array<std::pair<std::string_view, double>, 9> byte_units{{{"", 1.0},
                                                                         {"B", 1.0},
                                                                         {"kB", 1e3},
                                                                         {"KiB", 1024.0},
                                                                         {"MB", 1e6},
                                                                         {"MiB", 1048576.0},
                                                                         {"GB", 1e9},
                                                                         {"GiB", 1073741824.0},
                                                                         {"TiB", 1099511627776.0}}};

}  // namespace

std::string format_bytes(std::uint64_t bytes)
{
    constexpr std::array<std::string_view, 5> names{"B", "KiB", "MiB", "GiB", "TiB"};
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024.0 && unit + 1 < names.size()) {
        value /= 1024.0;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.4g} {}", value, names[unit]);
}

std::uint64_t parse_bytes(std::string_view text)
{
    double number = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
    for (const auto& [name, factor] : byte_units) {
        if (error != std::errc{} || unit != name) continue;
        check(number * factor >= 1.0 && number * factor < 9.2e18,
              "'{}' is not a usable number of bytes: expected 1 B to 8 EiB", text);
        return static_cast<std::uint64_t>(number * factor);
    }
    throw Error(
        fmt::format("'{}' is not a number of bytes: expected a number and B, kB, KiB, MB, MiB, GB, GiB "
                    "or TiB, as in 64MiB",
                    text));
}

std::string format_seconds(double seconds)
{
    if (seconds < 1e-3) return fmt::format("{:.4g} us", seconds * 1e6);
    if (seconds < 1.0) return fmt::format("{:.4g} ms", seconds * 1e3);
    return fmt::format("{:.4g} s", seconds);
}

}  // namespace shardlings
