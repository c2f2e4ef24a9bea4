#include "lib/tools/grade/printable.hpp"

#include <algorithm>

#include "lib/machine/base/error.hpp"

namespace grade {

namespace {

struct Character {
    char32_t code = 0;
    std::size_t bytes = 0;  // 0: not UTF-8
};

/// The first character of a text that is not empty.
Character first_of(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return {first, 1};
    const std::size_t length = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 && first < 0xf0 ? 3 : 2;
    if (first < 0xc2 || first >= 0xf5 || length > text.size()) return {};
    char32_t code = first & (0xffU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) return {};
        code = code << 6 | (byte(i) & 0x3fU);
    }
    const bool too_long = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    return too_long || surrogate || code > 0x10ffff ? Character{} : Character{code, length};
}

bool is_harmless(char32_t code)
{
    if (code == '\n' || code == '\t') return true;
    const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    const bool turns_direction = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
                                 code == 0x200e || code == 0x200f || code == 0x061c;
    const bool breaks_lines = code == 0x2028 || code == 0x2029;
    const bool no_character = (code & 0xfffe) == 0xfffe || (code >= 0xfdd0 && code <= 0xfdef);
    return !control && !turns_direction && !breaks_lines && !no_character;
}

}  // namespace

std::string printable(std::string_view text, std::size_t bytes)
{
    std::string result;
    while (!text.empty() && result.size() < bytes) {
        const Character one = first_of(text);
        const std::size_t length = std::max<std::size_t>(one.bytes, 1);
        if (one.bytes > 0 && is_harmless(one.code))
            result += text.substr(0, length);
        else
            for (const char byte : text.substr(0, length))
                result += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
        text.remove_prefix(length);
    }
    if (!text.empty()) result += fmt::format("… and {} bytes more", text.size());
    return result;
}

}  // namespace grade
