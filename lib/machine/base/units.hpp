// Bytes and seconds as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shardlings {

/// "1.5 MiB", "64 B": at most four significant digits.
std::string format_bytes(std::uint64_t bytes);

/// Bytes of "64MiB", "1.5 GiB", "300kB", "4096"; Error when it is none, not positive, or beyond 2^63.
std::uint64_t parse_bytes(std::string_view text);

/// "12.3 us", "4.56 ms", "1.20 s".
std::string format_seconds(double seconds);

}  // namespace shardlings
