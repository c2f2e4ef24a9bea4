#include "lib/tools/course/show.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/tools/course/files.hpp"

namespace shardlings {

namespace {

constexpr std::size_t shown_messages = 3;
constexpr std::size_t shown_lines = 8;  // of a message
constexpr std::size_t shown_columns = 180;

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

void add_message(std::vector<std::string>& lines, const std::string& message, Detail detail)
{
    const std::vector<std::string> all = lines_of(message);
    const std::size_t count = detail == Detail::all ? all.size() : std::min(all.size(), shown_lines);
    for (std::size_t i = 0; i < count; ++i)
        lines.push_back("  " + (detail == Detail::all ? all[i] : shortened(all[i], shown_columns)));
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
                            (others > 0 ? fmt::format(" (and {} more tests)", others) : ""));
        add_message(lines, failure.message, detail);
    }
    if (count < failures.size())
        lines.push_back(fmt::format("… {} more failures (V=1 shows all)", failures.size() - count));
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
