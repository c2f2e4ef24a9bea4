#include "lib/tools/marks/csv.hpp"

#include <fmt/format.h>

#include "lib/tools/course/files.hpp"
#include "lib/tools/marks/text.hpp"

namespace shardlings {

namespace {

std::string cell(const std::string& text)
{
    std::string clean = plain_line(text);
    if (clean.find_first_of("=+-@") == 0) clean.insert(0, "'");
    if (clean.find_first_of("\",") == clean.npos) return clean;
    std::string quoted = "\"";
    for (const char c : clean) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

}  // namespace

std::string class_csv(const std::vector<Marked>& all)
{
    std::vector<std::string> head{"name", "score", "max", "earned", "days_late", "tamper_proof", "error"};
    if (!all.empty())
        for (const GradedPart& graded : all.front().grade.parts) head.push_back(graded.part.id);
    std::string table = joined(head, ",") + "\r\n";
    for (const Marked& marked : all) {
        const Grade& grade = marked.grade;
        std::vector<std::string> line{cell(marked.name),
                                      fmt::format("{}", grade.score()),
                                      fmt::format("{}", grade.max()),
                                      fmt::format("{}", grade.earned()),
                                      std::to_string(grade.days_late),
                                      !was_judged(grade)   ? ""
                                      : grade.tamper_proof ? "yes"
                                                           : "no",
                                      cell(marked.error)};
        for (const GradedPart& graded : grade.parts) line.push_back(fmt::format("{}", graded.earned()));
        table += joined(line, ",") + "\r\n";
    }
    return table;
}

}  // namespace shardlings
