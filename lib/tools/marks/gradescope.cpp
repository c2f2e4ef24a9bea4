#include "lib/tools/marks/gradescope.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "lib/machine/base/error.hpp"
#include "lib/tools/course/files.hpp"
#include "lib/tools/course/json_problem.hpp"
#include "lib/tools/course/points.hpp"
#include "lib/tools/marks/text.hpp"

namespace shardlings {

using json = nlohmann::ordered_json;

namespace {

json test_of(const GradedPart& graded)
{
    const bool done = graded.judged && graded.submitted && graded.result.status == Status::done;
    std::string output = graded.status();
    if (const std::string passed = tests_passed(graded); !passed.empty()) output += ", " + passed;
    if (const std::string why = diagnosis(graded); !why.empty()) output += "\n\n" + why;
    return {{"score", graded.earned()},
            {"max_score", graded.part.points},
            {"status", done ? "passed" : "failed"},
            {"name", graded.part.title},
            {"name_format", "text"},
            {"number", graded.part.id},
            {"output", output},
            {"output_format", "text"},
            {"tags",
             json::array({"lesson " + graded.part.id.substr(0, graded.part.id.find('.')), graded.status()})},
            {"visibility", graded.part.visibility},
            {"extra_data",
             {{"traffic_bytes", graded.result.cost.traffic_bytes},
              {"virtual_seconds", graded.result.cost.virtual_seconds}}}};
}

json leaderboard_of(const Grade& grade)
{
    json entries = json::array({{{"name", "Points"}, {"value", grade.score()}, {"order", "desc"}}});
    for (const GradedPart& graded : grade.parts) {
        if (!graded.submitted || !graded.judged || graded.result.status != Status::done ||
            graded.part.visibility != "visible")
            continue;
        const Cost& cost = graded.result.cost;
        if (cost.traffic_bytes > 0.0)
            entries.push_back({{"name", graded.part.id + " traffic, bytes"},
                               {"value", cost.traffic_bytes},
                               {"order", "asc"}});
        if (cost.virtual_seconds > 0.0)
            entries.push_back({{"name", graded.part.id + " virtual time, s"},
                               {"value", cost.virtual_seconds},
                               {"order", "asc"}});
    }
    return entries;
}

std::string summary(const Marked& marked)
{
    std::vector<std::string> lines;
    const auto add = [&](const std::string& line) {
        if (!line.empty()) lines.push_back(line);
    };
    add(plain_lines(lines_of(marked.error)));
    add(late_text(marked.grade));
    add(caution(marked.grade));
    for (const GradedPart& graded : marked.grade.parts)
        if (!graded.judged) {
            add("Not all is graded yet.");
            break;
        }
    add("Test seed " + marked.grade.seed);
    return joined(lines, "\n");
}

}  // namespace

std::string gradescope_json(const Marked& marked)
{
    const Grade& grade = marked.grade;
    json tests = json::array();
    for (const GradedPart& graded : grade.parts) tests.push_back(test_of(graded));
    const json all = {{"score", grade.score()},
                      {"execution_time", std::llround(marked.seconds)},
                      {"output", summary(marked)},
                      {"output_format", "text"},
                      {"test_output_format", "text"},
                      {"test_name_format", "text"},
                      {"visibility", "visible"},
                      {"stdout_visibility", "hidden"},
                      {"extra_data",
                       {{"earned", grade.earned()},
                        {"max", grade.max()},
                        {"days_late", grade.days_late},
                        {"percent_off", grade.percent_off},
                        {"tamper_proof", grade.tamper_proof},
                        {"seed", grade.seed}}},
                      {"tests", std::move(tests)},
                      {"leaderboard", leaderboard_of(grade)}};
    return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

SubmissionTimes read_submission_metadata(const std::string& file)
{
    try {
        const json all = json::parse(read_file(file));
        const json due = all.at("assignment").at("due_date");
        const std::int64_t submitted = parse_time(all.at("created_at").get<std::string>());
        std::optional<std::int64_t> own;  // the latest that one of the group has
        for (const json& user : all.value("users", json::array())) {
            if (!user.contains("assignment")) continue;
            const json extended = user.at("assignment").value("due_date", json());
            if (extended.is_string())
                own = std::max(own.value_or(0), parse_time(extended.get<std::string>()));
        }
        if (own) return {submitted, *own};
        return {submitted, due.is_null() ? submitted : parse_time(due.get<std::string>())};
    } catch (const json::exception& error) {
        throw Error(fmt::format("{} is no metadata of a submission: {}", file, problem_of(error)));
    }
}

}  // namespace shardlings
