#include "lib/tools/grade/assembler.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>

namespace grade {

namespace {

std::string without_continued_lines(std::string text)
{
    for (auto at = text.find("\\\n"); at != text.npos; at = text.find("\\\n", at)) text.erase(at, 2);
    return text;
}

/// #line, or what a preprocessor writes: # 12 "file". Comments may stand before and inside.
bool has_line_marker(const std::string& source)
{
    static const std::regex marker(R"(^(.*\*/)?\s*(#|%:)(\s|/\*.*\*/)*(line\b|[0-9]))");
    std::istringstream lines(without_continued_lines(source));
    for (std::string line; std::getline(lines, line);)
        if (line.find_first_of("#%") != line.npos && std::regex_search(line, marker)) return true;
    return false;
}

/// Where a preprocessed text is, by its markers: # LINE "FILE" FLAGS, with 1 among the flags where an
/// included file begins and 2 where it ends.
class Position {
  public:
    void follow(const std::string& marker)
    {
        const auto file_end = marker.rfind('"');
        if (file_end == marker.npos) return;
        std::istringstream flags(marker.substr(file_end + 1));
        for (int flag = 0; flags >> flag;) {
            if (flag == 1) ++depth_;
            if (flag == 2) depth_ = std::max(0, depth_ - 1);
        }
        line_ = std::stol(marker.substr(2));
    }
    void next_line() { ++line_; }
    bool in_source() const { return depth_ == 0; }
    long line() const { return line_; }

  private:
    int depth_ = 0;
    long line_ = 1;
};

bool is_marker(const std::string& line)
{
    return line.size() > 2 && line.starts_with("# ") &&
           std::isdigit(static_cast<unsigned char>(line[2])) != 0;
}

}  // namespace

std::string assembler_in(const std::string& source, const std::string& preprocessed)
{
    if (has_line_marker(source)) return "a line marker (#line) is no part of an exercise";
    static const std::regex word(R"(\b(asm|__asm|__asm__)\b)");
    static const std::regex string(R"("([^"\\]|\\.)*")");
    Position position;
    std::istringstream lines(preprocessed);
    for (std::string line; std::getline(lines, line);) {
        if (is_marker(line)) {
            position.follow(line);
            continue;
        }
        if (position.in_source() && line.find("asm") != line.npos &&
            std::regex_search(std::regex_replace(line, string, ""), word))
            return fmt::format("line {}: assembler (asm) is no part of an exercise", position.line());
        position.next_line();
    }
    return {};
}

}  // namespace grade
