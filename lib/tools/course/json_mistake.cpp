#include "lib/tools/course/json_mistake.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace shardlings {

namespace {

/// What stands before `at`, and ends there but for blanks.
char last_before(const std::string& text, std::size_t at)
{
    const std::size_t last = at == 0 ? text.npos : text.find_last_not_of(" \t\r\n", at - 1);
    return last == text.npos ? '\0' : text[last];
}

bool is_utf8(const std::string& text)
{
    try {
        (void)nlohmann::json(text).dump();
        return true;
    } catch (const nlohmann::json::exception&) {
        return false;
    }
}

/// The line that the byte is in, from 1.
std::ptrdiff_t line_of(const std::string& text, std::size_t at)
{
    return std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(at, text.size())),
                      '\n') +
           1;
}

std::string words(const std::string& text, std::size_t at)
{
    if (at >= text.size()) return "it ends too early: is a } or a \" missing?";
    const char here = text[at];
    const char before = last_before(text, at);
    if (here == '#' || here == '/' || before == '/')
        return "JSON has no comments; the key \"about\" takes a remark";
    if (before == ',' && (here == '}' || here == ']')) return "there is a comma behind the last entry";
    if (here == '\'') return "texts stand in double quotes, \"…\"";
    if (here == '"' || here == '{') return "is a comma missing before this?";
    if (static_cast<unsigned char>(here) < 0x20) return "a text ends on its line: is a \" missing?";
    if (static_cast<unsigned char>(here) >= 0x80)
        return "this is no plain character: texts stand in straight double quotes";
    if (std::isalpha(static_cast<unsigned char>(here)) != 0)
        return "keys and texts stand in double quotes, \"…\"";
    if (std::isdigit(static_cast<unsigned char>(here)) != 0)
        return "is this a number? Keys stand in double quotes, and a number has no zeros before it";
    return fmt::format("'{}' is not expected here", here);
}

}  // namespace

std::string json_mistake(const std::string& text, std::size_t at)
{
    if (text.find_first_not_of(" \t\r\n") == text.npos) return "1:1: it is empty; {} changes nothing";
    if (!is_utf8(text))
        return fmt::format("{}:1: a character is not UTF-8: save the file as UTF-8", line_of(text, at));
    // A text is read to its end before it is found to be out of place.
    if (at > 0 && at < text.size() && text[at] == '"') {
        const std::size_t opens = text.find_last_of("\"\n", at - 1);
        if (opens != text.npos && text[opens] == '"') at = opens;
    }
    // Of an unfinished word its beginning is shown, as that is what a person sees.
    while (at > 0 && at < text.size() && std::isalpha(static_cast<unsigned char>(text[at])) != 0 &&
           std::isalpha(static_cast<unsigned char>(text[at - 1])) != 0)
        --at;
    at = std::min(at, text.size());
    const std::size_t begins = at == 0 ? text.npos : text.rfind('\n', at - 1);
    return fmt::format("{}:{}: {}", line_of(text, at), begins == text.npos ? at + 1 : at - begins,
                       words(text, at));
}

}  // namespace shardlings
