#include "lib/tools/marks/terminal.hpp"

#include <fmt/format.h>

#include "lib/tools/course/show.hpp"
#include "lib/tools/marks/text.hpp"

namespace shardlings {

void print_grade(const Grade& grade)
{
    for (const GradedPart& graded : grade.parts) {
        std::string line =
            fmt::format("{}  {:<36} {:<17} {:>6.4g} of {:.4g}", graded.part.id, graded.part.title,
                        graded.status(), graded.earned(), graded.part.points);
        if (const std::string passed = tests_passed(graded); !passed.empty()) line += "   " + passed;
        fmt::print("{}\n", line);
        for (const std::string& text : failure_lines(graded.result, Detail::first_few))
            fmt::print("      {}\n", plain_line(text));
    }
    for (const std::string& text : {late_text(grade), caution(grade)})
        if (!text.empty()) fmt::print("{}\n", text);
    fmt::print("score {:.4g} of {:.4g} (test seed {})\n", grade.score(), grade.max(), grade.seed);
}

}  // namespace shardlings
