#include "lib/tools/course/show.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/machine/base/counted.hpp"
#include "lib/tools/course/files.hpp"

namespace shardlings {

namespace {

constexpr std::size_t shown_messages = 3;
constexpr std::size_t shown_lines = 8;  // of a message
constexpr std::size_t shown_columns = 150;
constexpr std::size_t most_bytes = 1000;  // of a line of a message

struct Failure {
    std::string message;
    std::vector<std::string> cases;
};

/// The messages that differ, in their order. An open exercise is said once, whichever tests ran into it.
std::vector<Failure> failures_of(const PartResult& result)
{
    std::vector<Failure> failures;
    for (const CaseReport& one : result.cases)
        for (const std::string& message : one.messages) {
            const auto same = std::find_if(failures.begin(), failures.end(), [&](const Failure& failure) {
                return failure.message == message;
            });
            if (same == failures.end())
                failures.push_back({message, {one.name}});
            else if (same->cases.back() != one.name)
                same->cases.push_back(one.name);
        }
    return failures;
}

std::size_t columns_of(std::string_view text)
{
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

/// The line broken between words, so that its end, where the cause stands, is seen too. What follows the
/// first part stands a little to the right of it.
std::vector<std::string> broken(const std::string& line)
{
    const std::string indent(std::min(line.find_first_not_of(' '), line.size()), ' ');
    std::vector<std::string> parts{indent};
    bool begins = true;
    std::string_view rest = std::string_view(line).substr(indent.size());
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        const std::string_view word = rest.substr(0, end);
        if (!begins && columns_of(parts.back()) + 1 + columns_of(word) > shown_columns) {
            parts.push_back(indent + "    ");
            begins = true;
        }
        parts.back() += (begins ? "" : " ") + std::string(word);
        begins = false;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return parts;
}

void add_message(std::vector<std::string>& lines, const std::string& message, Detail detail)
{
    const std::vector<std::string> all = lines_of(message);
    const std::size_t count = detail == Detail::all ? all.size() : std::min(all.size(), shown_lines);
    for (std::size_t i = 0; i < count; ++i) {
        if (detail == Detail::all)
            lines.push_back("  " + all[i]);
        else
            for (const std::string& part : broken(shortened(all[i], most_bytes)))
                lines.push_back("  " + part);
    }
    if (count < all.size()) lines.push_back("  … (V=1 shows all)");
}

}  // namespace

std::vector<std::string> failure_lines(const PartResult& result, Detail detail)
{
    std::vector<std::string> lines;
    if (!result.note.empty()) add_message(lines, result.note, detail);
    const std::vector<Failure> failures = failures_of(result);
    const std::size_t count =
        detail == Detail::all ? failures.size() : std::min(failures.size(), shown_messages);
    for (std::size_t i = 0; i < count; ++i) {
        const Failure& failure = failures[i];
        const std::size_t others = failure.cases.size() - 1;
        if (result.status != Status::not_implemented)
            lines.push_back(failure.cases.front() +
                            (others > 0 ? fmt::format(" (and {})", counted(others, "more test")) : ""));
        add_message(lines, failure.message, detail);
    }
    if (count < failures.size())
        lines.push_back(
            fmt::format("… {} (V=1 shows all)", counted(failures.size() - count, "more failure")));
    return lines;
}

std::vector<std::string> lines_for(const Part& part, const PartResult& result, Detail detail)
{
    std::string first = fmt::format("{}  {:<36} {:<17}", part.id, part.title, name_of(result.status));
    if (!result.cases.empty())
        first += fmt::format(" {} of {} tests pass", result.passed(), result.cases.size());
    std::vector<std::string> lines{trimmed(first)};
    for (const std::string& line : failure_lines(result, detail)) lines.push_back("      " + line);
    return lines;
}

}  // namespace shardlings
