#include "lib/tools/marks/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "lib/tools/course/files.hpp"
#include "lib/tools/course/show.hpp"
#include "lib/tools/trace/text.hpp"

namespace shardlings {

namespace {

/// Whether the UTF-8 of one character is a control character of two bytes (U+0080 to U+009F), turns the
/// direction of writing (U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), breaks lines (U+2028, U+2029)
/// or is none (U+FFFE, U+FFFF).
bool misleads(std::string_view character)
{
    if (character.size() == 2) return character >= "\xc2\x80" && character <= "\xc2\x9f";
    if (character.size() != 3) return false;
    return character == "\xe2\x80\x8e" || character == "\xe2\x80\x8f" ||
           (character >= "\xe2\x80\xa8" && character <= "\xe2\x80\xae") ||
           (character >= "\xe2\x81\xa6" && character <= "\xe2\x81\xa9") || character == "\xef\xbf\xbe" ||
           character == "\xef\xbf\xbf";
}

std::size_t bytes_of_character(char first)
{
    const auto byte = static_cast<unsigned char>(first);
    return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

}  // namespace

std::string plain_line(std::string_view text, std::size_t bytes)
{
    const std::string valid = printable(text);
    std::string clean;
    for (std::size_t at = 0; at < valid.size();) {
        const std::string character = valid.substr(at, bytes_of_character(valid[at]));
        clean += misleads(character) ? "\xef\xbf\xbd" : character;
        at += character.size();
    }
    return shortened(clean, bytes);
}

std::string plain_lines(const std::vector<std::string>& text, std::size_t lines)
{
    std::vector<std::string> clean;
    for (const std::string& line : text) {
        if (clean.size() == lines) {
            clean.push_back(fmt::format("… {} more lines", text.size() - lines));
            break;
        }
        clean.push_back(plain_line(line));
    }
    return joined(clean, "\n");
}

std::string diagnosis(const GradedPart& graded)
{
    if (!graded.submitted && !graded.result.note.empty()) return plain_lines(lines_of(graded.result.note));
    if (!graded.submitted) return "there is no " + graded.part.file + " in the submission";
    if (!graded.judged) return "the grader did not come to it";
    return plain_lines(failure_lines(graded.result, Detail::all));
}

std::string tests_passed(const GradedPart& graded)
{
    if (graded.result.cases.empty()) return {};
    return fmt::format("{} of {} tests", graded.result.passed(), graded.result.cases.size());
}

bool was_judged(const Grade& grade)
{
    return std::any_of(grade.parts.begin(), grade.parts.end(),
                       [](const GradedPart& graded) { return graded.judged && graded.submitted; });
}

std::string caution(const Grade& grade)
{
    return grade.tamper_proof || !was_judged(grade)
               ? ""
               : "Not tamper-proof: the submission ran without a sandbox.";
}

std::string late_text(const Grade& grade)
{
    if (grade.days_late == 0) return {};
    return fmt::format("{} day{} late: {:.4g} % off {:.4g} points", grade.days_late,
                       grade.days_late == 1 ? "" : "s", grade.percent_off, grade.earned());
}

std::string file_name_for(const std::string& name)
{
    std::string safe = name.substr(0, 60);
    std::replace_if(
        safe.begin(), safe.end(),
        [](unsigned char c) { return c >= 0x80 || (!std::isalnum(c) && c != '-' && c != '_' && c != '.'); },
        '_');
    const bool changed = safe != name || safe.empty() || safe.front() == '.';
    return changed ? "_" + safe + "-" + hash_of(name) : safe;
}

}  // namespace shardlings
