#include <nlohmann/json.hpp>

#include "lib/machine/base/error.hpp"
#include "lib/tools/course/grade.hpp"
#include "lib/tools/course/json_problem.hpp"

namespace shardlings {

using json = nlohmann::ordered_json;

namespace {

json json_of(const GradedPart& graded)
{
    json tests = json::array();
    for (const CaseReport& one : graded.result.cases)
        tests.push_back({{"name", one.name}, {"passed", one.passed}, {"messages", one.messages}});
    json exercise = {{"id", graded.part.id},
                     {"title", graded.part.title},
                     {"points", graded.earned()},
                     {"max", graded.part.points},
                     {"status", graded.status()},
                     {"traffic_bytes", graded.result.cost.traffic_bytes},
                     {"virtual_seconds", graded.result.cost.virtual_seconds},
                     {"tests", std::move(tests)}};
    if (!graded.result.note.empty()) exercise["note"] = graded.result.note;
    if (!graded.result.timeline.empty()) exercise["timeline"] = graded.result.timeline;
    return exercise;
}

GradedPart part_of(const json& exercise, const Part& part)
{
    check(exercise.at("id") == part.id, "it has part {} where {} is expected",
          exercise.at("id").get<std::string>(), part.id);
    const std::string status = exercise.at("status");
    GradedPart graded{part, status != "missing", {}, status != "not graded"};
    if (graded.submitted && graded.judged) graded.result.status = status_named(status);
    for (const json& test : exercise.at("tests"))
        graded.result.cases.push_back({test.at("name"), test.at("passed"), test.at("messages")});
    graded.result.note = exercise.value("note", "");
    graded.result.timeline = exercise.value("timeline", "");
    graded.result.cost = {exercise.at("traffic_bytes"), exercise.at("virtual_seconds")};
    return graded;
}

}  // namespace

std::string grade_json(const Grade& grade)
{
    json exercises = json::array();
    for (const GradedPart& graded : grade.parts) exercises.push_back(json_of(graded));
    json all;
    all["score"] = grade.score();
    all["earned"] = grade.earned();
    all["max"] = grade.max();
    all["days_late"] = grade.days_late;
    all["percent_off"] = grade.percent_off;
    all["seed"] = grade.seed;
    all["tamper_proof"] = grade.tamper_proof;
    all["exercises"] = std::move(exercises);
    return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Grade grade_of_json(const std::string& text, const Manifest& manifest)
{
    try {
        const json all = json::parse(text);
        Grade grade;
        grade.seed = all.at("seed");
        grade.tamper_proof = all.at("tamper_proof");
        grade.days_late = all.at("days_late");
        grade.percent_off = all.at("percent_off");
        const json& exercises = all.at("exercises");
        std::size_t next = 0;
        for (const Lesson& lesson : manifest.lessons)
            for (const Part& part : lesson.parts) grade.parts.push_back(part_of(exercises.at(next++), part));
        check(next == exercises.size(), "it has {} parts, the lessons {}", exercises.size(), next);
        return grade;
    } catch (const json::exception& error) {
        throw Error(fmt::format("this is no grade: {}", problem_of(error)));
    }
}

}  // namespace shardlings
